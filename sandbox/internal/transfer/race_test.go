package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// Another run of the same workspace may put links in the place of directories
// and files at any moment: what comes gets nowhere else.
func TestRacesDoNotLeadOut(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no links to follow")
	}
	v := newVictim(t)
	in := func(name string) string { return filepath.Join(v.inside, name) }
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			// Whatever fails was changed by what comes.
			os.RemoveAll(in("d"))
			os.Mkdir(in("d"), 0o500)
			os.RemoveAll(in("d"))
			os.Symlink(filepath.Dir(v.secret), in("d"))
			os.RemoveAll(in("d"))
			os.Symlink("../outside", in("d"))
			os.Remove(in("f"))
			os.Symlink(v.secret, in("f"))
		}
	}()
	defer func() { close(stop); <-stopped }()
	root, err := os.OpenRoot(v.inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	stream := write("x", header{kind: removal, path: "d/secret"}, header{kind: removal, path: "f"},
		header{kind: directory, path: "d", mode: 0o777}, header{kind: file, path: "d/secret", size: 1, mode: 0o666},
		header{kind: directory, path: "d/new", mode: 0o777}, header{kind: symlink, path: "d/link", target: "x"},
		header{kind: file, path: "f", size: 1, mode: 0o666}, header{kind: hardlink, path: "h", target: "f"},
		header{kind: hardlink, path: "i", target: "d/secret"})
	for range testenv.Rounds(t, 500, 2000) {
		reader := bufio.NewReader(bytes.NewReader(stream))
		if _, err := Receive(reader, root, Bounds{Removable: func(string) bool { return true }}); errors.Is(err, ErrMalformed) {
			t.Fatal(err)
		}
		v.expectIntact(t)
		if info, err := os.Stat(filepath.Dir(v.secret)); err != nil || info.Mode().Perm() != 0o700 {
			t.Fatalf("the mode of what is outside has changed: %v, %v", info.Mode(), err)
		}
	}
}
