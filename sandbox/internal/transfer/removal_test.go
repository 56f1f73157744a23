package transfer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// A file that has another name in the stream never is without one, wherever
// the stream is cut.
func TestRenamedFilesAreNeverLost(t *testing.T) {
	t.Parallel()
	if !identified {
		t.Skip("files have no identities")
	}
	for name, moved := range map[string][]byte{
		"a file": write("text", header{kind: removal, path: "old"}, header{kind: file, path: "new", size: 4}),
		"a directory": write("text", header{kind: removal, path: "dir/old"}, header{kind: removal, path: "dir"},
			header{kind: directory, path: "other", mode: 0o700}, header{kind: file, path: "other/old", size: 4},
			header{kind: removal, path: "old"}, header{kind: file, path: "new", size: 4}),
	} {
		for n := range moved {
			v := newVictim(t)
			in := func(name string) string { return filepath.Join(v.inside, name) }
			if err := errors.Join(os.Mkdir(in("dir"), 0o700), os.WriteFile(in("dir/old"), []byte("text"), 0o600), os.WriteFile(in("old"), []byte("text"), 0o600)); err != nil {
				t.Fatal(err)
			}
			v.receive(t, moved[:n+1], Bounds{Removable: func(string) bool { return true }})
			for _, names := range [][]string{{"old", "new"}, {"dir/old", "other/old"}} {
				one, _ := os.ReadFile(in(names[0]))
				other, _ := os.ReadFile(in(names[1]))
				if string(one) != "text" && string(other) != "text" {
					t.Errorf("%s is lost after %d of %d bytes: %q is %q, %q is %q", name, n+1, len(moved), names[0], one, names[1], other)
				}
			}
			if _, err := os.Stat(in("old")); n+1 == len(moved) && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s has its old name in the end, %v", name, err)
			}
		}
	}
}

// What has come stays where a name that is to be removed is another spelling
// of its own: here another name of the same file stands in for that.
func TestEqualNamesAreNotRemoved(t *testing.T) {
	t.Parallel()
	if !identified {
		t.Skip("files have no identities")
	}
	v := newVictim(t)
	root, err := os.OpenRoot(v.inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d := newDestination(root, "")
	staged, err := d.stage(func(name string) error { return root.WriteFile(name, []byte("text"), 0o600) })
	if err := errors.Join(err, d.deferRemoval("README"), d.file(staged, "readme", 0o600, time.Now()), root.Link("readme", "README"), d.removeDeferred()); err != nil {
		t.Fatal(err)
	}
	if _, err := root.Lstat("README"); err != nil {
		t.Errorf("what has come is removed: %v", err)
	}
}

// Where not all can be looked at, what was not seen is not taken for removed.
func TestUnseenIsNotRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	before := list(root, 30, true)
	for most := range 30 {
		var stream bytes.Buffer
		if err := list(root, most, true).SendChanges(&stream, root, before); err != nil {
			t.Fatal(err)
		}
		// Nothing may be removed.
		if skipped, err := newVictim(t).receive(t, stream.Bytes(), Bounds{}); err != nil || skipped == 0 {
			t.Errorf("%d of 30 are seen: %d skipped, %v", most, skipped, err)
		}
	}
	if before.cut || before.skipped > 0 {
		t.Errorf("as many as there may be are too many: %+v", before)
	}
}
