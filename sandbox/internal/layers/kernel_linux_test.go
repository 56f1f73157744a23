package layers_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
)

// inNamespaces runs a test once more, in a process that may mount overlays, and
// reports whether it is that process.
func inNamespaces(t *testing.T) bool {
	t.Helper()
	const inside = "LAYERS_TEST_INSIDE"
	if os.Getenv(inside) != "" {
		return true
	}
	again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), inside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := again.CombinedOutput()
	switch {
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSPC) || strings.Contains(string(out), "\n--- SKIP"):
		t.Skipf("needs namespaces and overlays: %v: %s", err, out)
	case err != nil:
		t.Errorf("%v: %s", err, out)
	}
	return false
}

// overlay lists what the kernel shows of a share.
func (b *workbench) overlay(t *testing.T) (lines []string, times map[string]time.Time) {
	t.Helper()
	at := filepath.Join(filepath.Dir(b.copy), "overlay")
	if err := os.Mkdir(at, 0o755); !errors.Is(err, fs.ErrExist) {
		check(t, err)
	}
	options := fmt.Sprintf("userxattr,lowerdir=%s:%s,upperdir=%s,workdir=%s",
		b.mask, b.user, b.upper, filepath.Join(b.share.Changes, sandbox.WorkDir))
	if err := unix.Mount("overlay", at, "overlay", 0, options); err != nil {
		t.Skip(err)
	}
	defer func() { check(t, unix.Unmount(at, 0)) }()
	return list(t, at), timesOf(t, at)
}

func timesOf(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	times := make(map[string]time.Time)
	check(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		name, _ := filepath.Rel(dir, path)
		times[name] = info.ModTime()
		return err
	}))
	return times
}

// scribe writes trees at random.
type scribe struct {
	chance
	t *testing.T
}

type chance interface{ IntN(n int) int }

func (s scribe) name(depth int) string {
	names := []string{string("abc"[s.IntN(3)])}
	for range s.IntN(depth) {
		names = append(names, string("abc"[s.IntN(3)]))
	}
	return filepath.Join(names...)
}

// plant makes a few entries, whiteouts and opaque directories among them where
// it is a layer above others.
func (s scribe) plant(dir string, above bool) {
	for range s.IntN(10) {
		path := filepath.Join(dir, s.name(3))
		if os.MkdirAll(filepath.Dir(path), 0o755) != nil {
			continue
		}
		switch kind := s.IntN(8); {
		case kind < 3:
			_ = os.WriteFile(path, []byte{"012"[s.IntN(3)]}, 0o644)
		case kind == 3:
			_ = os.Symlink([]string{"a", "../b", "/nowhere/at/all"}[s.IntN(3)], path)
		case kind == 4 && above:
			_ = unix.Mknod(path, unix.S_IFCHR, 0)
		case kind == 5 && above && os.MkdirAll(path, 0o755) == nil:
			check(s.t, unix.Setxattr(path, "user.overlay.opaque", []byte("y"), 0))
		default:
			_ = os.MkdirAll(path, 0o755)
		}
	}
}

// scribble does what programs do. Much of it fails, as theirs does.
func (s scribe) scribble(dir string) {
	for range s.IntN(12) {
		path := filepath.Join(dir, s.name(3))
		switch s.IntN(9) {
		case 0, 1:
			_ = os.WriteFile(path, []byte{"012"[s.IntN(3)]}, 0o644)
		case 2:
			_ = os.RemoveAll(path)
		case 3:
			_ = os.Remove(path)
		case 4:
			_ = os.MkdirAll(path, 0o755)
		case 5:
			_ = os.Rename(path, filepath.Join(dir, s.name(3)))
		case 6:
			if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink == 0 {
				_ = os.Chmod(path, []fs.FileMode{0o755, 0o700, 0o644 | info.Mode().Perm()&0o100}[s.IntN(3)])
			}
		case 7:
			_ = os.Symlink([]string{"a", "../b", "/nowhere/at/all"}[s.IntN(3)], path)
		case 8:
			_ = os.Link(path, filepath.Join(dir, s.name(3)))
		}
	}
}

// A copy holds what an overlay shows, and after what became of it is stored, an
// overlay shows that: for layers and programs of any kind, in several runs, with
// copies that are made again and such that are brought up to date.
func TestLikeTheKernel(t *testing.T) {
	if !inNamespaces(t) {
		return
	}
	for round := range testenv.Rounds(t, 40, 2000) {
		s := scribe{rand.New(rand.NewPCG(uint64(round), 11)), t}
		b := newWorkbench(t)
		s.plant(b.user, false)
		s.plant(b.mask, true)
		s.plant(b.upper, true)
		var last *layers.Manifest
		for run := range 3 {
			made := b.merge(t, layers.Options{Last: last})
			want, times := b.overlay(t)
			got := list(t, b.copy)
			if diff := cmp.Diff(want, got) + cmp.Diff(times, timesOf(t, b.copy)); diff != "" {
				t.Fatalf("round %d, run %d: the copy of\n%q\n%q\n%q\n(-kernel +copy):\n%s", round, run, list(t, b.upper), list(t, b.mask), list(t, b.user), diff)
			}
			before, user := list(t, b.upper), list(t, b.user)
			s.scribble(b.copy)
			if s.IntN(4) == 0 {
				made.Doubt()
			}
			if lost := b.store(t, made); lost != (layers.Lost{}) {
				t.Fatalf("round %d, run %d: lost %+v", round, run, lost)
			}
			want = list(t, b.copy)
			stored, _ := b.overlay(t)
			if diff := cmp.Diff(want, stored); diff != "" {
				t.Fatalf("round %d, run %d: stored of\n%q over %q\n is %q\n(-copy +kernel):\n%s", round, run, want, before, list(t, b.upper), diff)
			}
			if !slices.Equal(user, list(t, b.user)) {
				t.Fatalf("round %d, run %d: the user's own has changed", round, run)
			}
			if last = nil; s.IntN(2) == 0 {
				last = made
			}
			if s.IntN(3) == 0 {
				s.scribble(b.user) // the user goes on meanwhile
			}
		}
	}
}
