//go:build unix

package contained_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

// timeout bounds what has to happen some time.
const timeout = 30 * time.Second

func TestWriteKeepsMode(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"run.sh": "old", "secret": "old"})
	for name, mode := range map[string]fs.FileMode{"run.sh": 0o751, "secret": 0o600} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	opened := written(t, dir)
	if _, err := opened.Write("run.sh", []byte("new")); err != nil {
		t.Error(err)
	}
	if err := opened.Edit("secret", 100, func([]byte) ([]byte, error) { return []byte("new"), nil }); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]fs.FileMode{"run.sh": 0o751, "secret": 0o600} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
}

// What the server makes as root belongs to whom the workspace belongs to.
func TestWriteGivesToOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const owner = 12345
	dir := filetest.Plant(t, map[string]string{"roots": "old"})
	if err := os.Chown(dir, owner, owner+1); err != nil {
		t.Fatal(err)
	}
	opened := written(t, dir)
	for _, name := range []string{"new", "a/b/new", "roots"} {
		if _, err := opened.Write(name, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"new", "a", "a/b", "a/b/new", "roots"} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if stat := info.Sys().(*syscall.Stat_t); stat.Uid != owner || stat.Gid != owner+1 {
			t.Errorf("%s belongs to %d:%d", name, stat.Uid, stat.Gid)
		}
	}
}

// Nothing is written through what a program may have put in the way.
func TestWriteThroughNothing(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"real/file": "inside", "linked": "linked"})
	outside := filepath.Join(filepath.Dir(dir), "outside")
	testfiles.Write(t, filepath.Join(outside, "file"), filetest.Secret)
	for link, target := range map[string]string{
		"out": outside, "up": "..", "in": "real", "file": filepath.Join(outside, "file"), "infile": "real/file",
		"dangling": filepath.Join(outside, "made"), "loop": "loop", "proc": "/proc/self/cwd", "tmp": "/tmp",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644),
		os.Link(filepath.Join(outside, "file"), filepath.Join(dir, "hard")))
	if err != nil {
		t.Fatal(err)
	}
	opened := written(t, dir)
	keep := func(data []byte) ([]byte, error) { return append(data, "edited"...), nil }
	for name, want := range map[string]contained.Rule{
		"out/file": contained.Escape, "up/x": contained.Escape, "in/file": contained.Escape, "file": contained.Escape,
		"infile": contained.Escape, "dangling": contained.Escape, "loop": contained.Escape, "loop/x": contained.Escape,
		"proc/x": contained.Escape, "tmp/x": contained.Escape, "fifo": contained.SpecialFile, "fifo/x": contained.NotDirectory,
	} {
		_, err := opened.Write(name, []byte("new"))
		filetest.WantRule(t, err, want)
		filetest.WantRule(t, opened.Edit(name, 100, keep), want)
	}
	filetest.WantRule(t, opened.Edit("hard", 100, keep), contained.Escape)
	// The name is replaced, not what it shares with another.
	if _, err := opened.Write("hard", []byte("new")); err != nil {
		t.Error(err)
	}
	if got := content(t, filepath.Join(outside, "file")); got != filetest.Secret {
		t.Errorf("outside there is %q", got)
	}
	if names, err := os.ReadDir(outside); err != nil || len(names) != 1 {
		t.Errorf("outside there is %v, %v", names, err)
	}
	if got := content(t, filepath.Join(dir, "real/file")); got != "inside" {
		t.Errorf("through a link came %q", got)
	}
}

// swapped lets a program's part of a race run until stop is called: it puts a
// link to the outside, a FIFO and a directory in each other's place.
func swapped(t *testing.T, dir, outside string) (stop func()) {
	t.Helper()
	spot := filepath.Join(dir, "spot")
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			_ = os.Mkdir(spot, 0o755)
			_ = os.Rename(spot, filepath.Join(dir, "aside"))
			switch i % 3 {
			case 0:
				_ = syscall.Mkfifo(spot, 0o644)
			default:
				_ = os.Symlink(outside, spot)
			}
			_ = os.Remove(spot)
			_ = os.RemoveAll(filepath.Join(dir, "aside"))
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// escaped reports whether anything new is outside.
func escaped(t *testing.T, outside string) bool {
	t.Helper()
	names, err := os.ReadDir(outside)
	if err != nil {
		t.Fatal(err)
	}
	return len(names) != 1 || content(t, filepath.Join(outside, "file")) != filetest.Secret
}

// TestWriteRace: while a program swaps a directory for a link to the outside,
// nothing outside is written. The attack works on whoever looks first and
// writes then.
func TestWriteRace(t *testing.T) {
	t.Parallel()
	attacked := func(write func(dir string), enough func(round int, out bool) bool) bool {
		dir := filetest.Plant(t, nil)
		outside := filepath.Join(filepath.Dir(dir), "outside")
		if err := errors.Join(os.Mkdir(outside, 0o755), os.WriteFile(filepath.Join(outside, "file"), []byte(filetest.Secret), 0o644)); err != nil {
			t.Fatal(err)
		}
		stop := swapped(t, dir, outside)
		defer stop()
		for round := 0; ; round++ {
			write(dir)
			if out := escaped(t, outside); enough(round, out) {
				return out
			}
		}
	}
	deadline := time.Now().Add(timeout)
	naive := func(dir string) {
		spot := filepath.Join(dir, "spot")
		if info, err := os.Lstat(spot); err == nil && info.IsDir() {
			// Between the look and the writing the program has its turn.
			for err != nil || info.Mode()&fs.ModeSymlink == 0 {
				if time.Now().After(deadline) {
					return
				}
				info, err = os.Lstat(spot)
			}
			// O_NONBLOCK, so that no FIFO ends the attack.
			if file, err := os.OpenFile(filepath.Join(spot, "file"), os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o644); err == nil {
				_, _ = file.WriteString("from inside")
				file.Close()
			}
		}
	}
	if !attacked(naive, func(_ int, out bool) bool { return out || time.Now().After(deadline) }) {
		t.Error("the attack does not succeed even on the naive way")
	}
	wrote, refused := 0, map[contained.Rule]int{}
	careful := func(dir string) {
		opened := written(t, dir)
		_, err := opened.Write("spot/file", []byte("from inside"))
		if err == nil {
			wrote++
			err = opened.Edit("spot/file", 100, func([]byte) ([]byte, error) { return []byte("edited"), nil })
		}
		if err != nil {
			refused[filetest.RuleOf(err)]++
		}
	}
	if attacked(careful, func(round int, out bool) bool { return out || round == 3000 }) {
		t.Error("something outside was written")
	}
	if wrote == 0 || refused[""] > 0 {
		t.Errorf("%d writes came through, refused were %v", wrote, refused)
	}
	t.Logf("%d writes came through, refused were %v", wrote, refused)
}

// A temporary file that a program replaces is not taken for what was written.
func TestWriteNoticesSwappedTemporary(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"file": "old"})
	opened := written(t, dir)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
			}
			for _, name := range leftBehind(t, dir) {
				_ = os.Remove(filepath.Join(dir, name))
				_ = os.Symlink("/etc/passwd", filepath.Join(dir, name))
			}
		}
	}()
	for range 500 {
		_, err := opened.Write("file", []byte(strings.Repeat("new", 1000)))
		info, statErr := os.Lstat(filepath.Join(dir, "file"))
		if statErr != nil {
			t.Fatal(statErr)
		}
		if err == nil && !info.Mode().IsRegular() {
			t.Error("a link was taken for the file")
		}
		_ = os.Remove(filepath.Join(dir, "file"))
		testfiles.Write(t, filepath.Join(dir, "file"), "old")
	}
	close(end)
	<-ended
}
