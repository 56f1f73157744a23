package workspaces_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

// clock is a clock that one sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func newWorkspaces(t *testing.T, limit int) (*workspaces.Store, *clock) {
	t.Helper()
	c := &clock{now: time.Now()}
	all, err := workspaces.New(t.TempDir(), workspaces.Options{Idle: time.Hour, Max: limit, Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := all.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return all, c
}

func create(t *testing.T, all *workspaces.Store) workspaces.Workspace {
	t.Helper()
	workspace, err := all.Create("")
	if err != nil {
		t.Fatal(err)
	}
	return workspace
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// awaitGone returns when a directory is removed, which happens aside.
func awaitGone(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); exists(t, path); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the workspace is still there")
		}
	}
}

func TestWorkspaceIsPrivateAndOpaque(t *testing.T) {
	t.Parallel()
	all, _ := newWorkspaces(t, 0)
	seen := make(map[string]bool)
	for range 20 {
		workspace := create(t, all)
		if !regexp.MustCompile(`^ws-[0-9a-f]{32}$`).MatchString(workspace.Handle) || seen[workspace.Handle] {
			t.Fatalf("handle %q", workspace.Handle)
		}
		seen[workspace.Handle] = true
		for _, dir := range []string{workspace.Dir, workspace.Private, filepath.Dir(workspace.Dir)} {
			if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
				t.Fatalf("%s: %v, %v", dir, info.Mode(), err)
			}
		}
		if got, err := all.Get(workspace.Handle); err != nil || got.Dir != workspace.Dir || got.Private != workspace.Private || got.Handle != workspace.Handle {
			t.Fatalf("Get gives %+v, %v", got, err)
		}
	}
}

func TestWorkspaceUnknown(t *testing.T) {
	t.Parallel()
	all, _ := newWorkspaces(t, 0)
	known := create(t, all)
	for _, handle := range []string{"", "ws-", "..", "ws-00000000000000000000000000000000", known.Handle + "/", "private-" + known.Handle, "../" + filepath.Base(filepath.Dir(known.Dir))} {
		if _, err := all.Get(handle); !errors.Is(err, workspaces.ErrUnknown) {
			t.Errorf("Get(%q) gives %v", handle, err)
		}
	}
}

// What a program does to its workspace itself costs no more than what is in it.
func TestWorkspaceIsRepaired(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("directories have no such modes")
	}
	for name, hostile := range map[string]func(dir string) error{
		"mode": func(dir string) error { return os.Chmod(dir, 0) },
		"gone": os.RemoveAll,
		"file": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0)) },
		"link": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.Symlink("/etc", dir)) },
	} {
		all, _ := newWorkspaces(t, 0)
		workspace := create(t, all)
		for _, dir := range []string{workspace.Dir, workspace.Private} {
			check(t, os.WriteFile(filepath.Join(dir, "file"), []byte("x"), 0o644))
			check(t, hostile(dir))
		}
		if name == "mode" { // also of the directory of all, where it is in reach
			check(t, os.Chmod(filepath.Dir(workspace.Dir), 0))
			create(t, all)
			check(t, os.Chmod(filepath.Dir(workspace.Dir), 0))
		}
		_, err := all.Get(workspace.Handle)
		check(t, err)
		for _, dir := range []string{workspace.Dir, workspace.Private} {
			info, err := os.Lstat(dir)
			check(t, err)
			if kept := exists(t, filepath.Join(dir, "file")); info.Mode() != fs.ModeDir|0o700 || kept != (name == "mode") {
				t.Errorf("%s: the mode is %v, its file is kept: %v", name, info.Mode(), kept)
			}
		}
	}
}

func TestWorkspaceExpires(t *testing.T) {
	t.Parallel()
	all, clock := newWorkspaces(t, 0)
	idle, used := create(t, all), create(t, all)
	clock.pass(59 * time.Minute)
	if _, err := all.Get(used.Handle); err != nil {
		t.Fatal(err)
	}
	clock.pass(time.Minute)
	if _, err := all.Get(idle.Handle); !errors.Is(err, workspaces.ErrExpired) {
		t.Errorf("after an hour: %v", err)
	}
	awaitGone(t, idle.Dir)
	awaitGone(t, idle.Private)
	if _, err := all.Get(used.Handle); err != nil || !exists(t, used.Dir) {
		t.Errorf("a workspace that was used: %v", err)
	}
}

func TestWorkspaceInUseDoesNotExpire(t *testing.T) {
	t.Parallel()
	all, clock := newWorkspaces(t, 0)
	workspace := create(t, all)
	release, again := workspace.Acquire(), workspace.Acquire()
	clock.pass(24 * time.Hour)
	release()
	release() // counts once
	clock.pass(24 * time.Hour)
	if _, err := all.Get(workspace.Handle); err != nil {
		t.Fatalf("while it is in use: %v", err)
	}
	clock.pass(24 * time.Hour)
	again() // from here on it is idle
	clock.pass(59 * time.Minute)
	if _, err := all.Get(workspace.Handle); err != nil {
		t.Fatalf("before its time: %v", err)
	}
	clock.pass(time.Hour)
	if _, err := all.Get(workspace.Handle); !errors.Is(err, workspaces.ErrExpired) {
		t.Errorf("an hour after its use: %v", err)
	}
}

func TestWorkspacesAreLimited(t *testing.T) {
	t.Parallel()
	all, clock := newWorkspaces(t, 2)
	first := create(t, all)
	clock.pass(time.Second)
	second := create(t, all)
	clock.pass(time.Second)
	release := first.Acquire()
	third := create(t, all) // at the cost of the second, since the first is in use
	if _, err := all.Get(second.Handle); !errors.Is(err, workspaces.ErrExpired) {
		t.Errorf("the second: %v", err)
	}
	defer third.Acquire()()
	if _, err := all.Create(""); !errors.Is(err, workspaces.ErrFull) {
		t.Errorf("a workspace too many: %v", err)
	}
	release()
	create(t, all)
}

// Whoever makes many workspaces loses its own, and cannot keep all in use.
func TestWorkspacesAreShared(t *testing.T) {
	t.Parallel()
	all, clock := newWorkspaces(t, 8)
	make := func(caller string) (workspaces.Workspace, error) {
		clock.pass(time.Second)
		return all.Create(caller)
	}
	modest, err := make("modest")
	check(t, err)
	for range 50 {
		_, err := make("greedy")
		check(t, err)
	}
	if _, err := all.Get(modest.Handle); err != nil {
		t.Fatalf("pushed out by another's: %v", err)
	}
	for range 6 {
		workspace, err := make("greedy")
		check(t, err)
		defer workspace.Acquire()()
	}
	if _, err := make("greedy"); !errors.Is(err, workspaces.ErrFull) {
		t.Errorf("all in use by one: %v", err)
	}
	if _, err := make("late"); err != nil {
		t.Errorf("no place is left for another: %v", err)
	}
	if _, err := all.Get(modest.Handle); err != nil {
		t.Errorf("pushed out by another's in use: %v", err)
	}
}

func TestWorkspacesRemove(t *testing.T) {
	t.Parallel()
	all, _ := newWorkspaces(t, 0)
	workspace, other := create(t, all), create(t, all)
	all.Remove(workspace.Handle)
	all.Remove(workspace.Handle)
	all.Remove("ws-unknown")
	if _, err := all.Get(workspace.Handle); !errors.Is(err, workspaces.ErrExpired) {
		t.Errorf("Get: %v", err)
	}
	awaitGone(t, workspace.Dir)
	awaitGone(t, workspace.Private)
	if _, err := all.Get(other.Handle); err != nil || !exists(t, other.Dir) {
		t.Errorf("the other workspace is gone too: %v", err)
	}
}

func TestWorkspacesClose(t *testing.T) {
	t.Parallel()
	all, _ := newWorkspaces(t, 0)
	workspace := create(t, all)
	defer workspace.Acquire()()
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	if exists(t, filepath.Dir(workspace.Dir)) {
		t.Error("the workspaces are still there")
	}
	if _, err := all.Create(""); !errors.Is(err, workspaces.ErrClosed) {
		t.Errorf("Create: %v", err)
	}
	if _, err := all.Get(workspace.Handle); !errors.Is(err, workspaces.ErrClosed) {
		t.Errorf("Get: %v", err)
	}
}

func TestWorkspacesConcurrently(t *testing.T) {
	t.Parallel()
	all, clock := newWorkspaces(t, 8)
	var users sync.WaitGroup
	for user := range 8 {
		users.Go(func() {
			for range 20 {
				workspace, err := all.Create(strconv.Itoa(user))
				if err != nil {
					t.Errorf("Create: %v", err)
					return
				}
				release := workspace.Acquire()
				if got, err := all.Get(workspace.Handle); err == nil {
					if err := os.WriteFile(filepath.Join(got.Dir, "f"), nil, 0o600); err != nil {
						t.Errorf("a held workspace is gone: %v", err)
					}
				}
				clock.pass(10 * time.Minute)
				release()
			}
		})
	}
	users.Wait()
}

// Close has to remove whatever programs leave behind.
func TestWorkspacesCloseHostileTrees(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "precious"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, fill := range map[string]func(t *testing.T, root *os.Root){
		"no permissions": func(t *testing.T, root *os.Root) {
			check(t, root.MkdirAll("a/b/c", 0o700))
			check(t, root.WriteFile("a/b/c/file", nil, 0o400))
			check(t, root.Chmod("a/b/c", 0))
			check(t, root.Chmod("a/b", 0o500))
			check(t, root.Chmod("a", 0o100))
			check(t, root.Chmod(".", 0))
		},
		"links out": func(t *testing.T, root *os.Root) {
			check(t, root.Symlink(outside, "dir"))
			check(t, root.Symlink(filepath.Join(outside, "precious"), "file"))
			check(t, root.Mkdir("locked", 0o700))
			check(t, root.Symlink(outside, "locked/dir"))
			check(t, root.Chmod("locked", 0))
		},
		"names in the way": func(t *testing.T, root *os.Root) {
			check(t, root.MkdirAll("removed-1/removed-2/removed-3", 0o700))
			check(t, root.Chmod("removed-1/removed-2", 0))
			check(t, root.WriteFile("removed-2", nil, 0))
		},
		"deep": func(t *testing.T, root *os.Root) { nest(t, root, 1000) },
		"many": func(t *testing.T, root *os.Root) {
			check(t, root.Mkdir("locked", 0o700))
			for i := range 1500 {
				check(t, root.WriteFile(filepath.Join("locked", string(rune('一'+i))), nil, 0))
			}
			check(t, root.Chmod("locked", 0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, _ := newWorkspaces(t, 0)
			workspace := create(t, all)
			root, err := os.OpenRoot(workspace.Dir)
			check(t, err)
			fill(t, root)
			check(t, root.Close())
			check(t, all.Close())
			if exists(t, workspace.Dir) {
				t.Error("the workspace is still there")
			}
			if !exists(t, filepath.Join(outside, "precious")) {
				t.Fatal("a link was followed")
			}
		})
	}
}

// nest makes directories within each other, deeper than any path can tell,
// the innermost without permissions. Their name is one that the removal would
// like to use.
func nest(t *testing.T, root *os.Root, depth int) {
	t.Helper()
	const name = "removed-1"
	current := root
	for i := range depth {
		mode := fs.FileMode(0o700)
		if i == depth-1 {
			mode = 0
		}
		check(t, current.Mkdir(name, mode))
		if i == depth-1 {
			break
		}
		next, err := current.OpenRoot(name)
		check(t, err)
		if current != root {
			check(t, current.Close())
		}
		current = next
	}
	check(t, current.Close())
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Whoever wants to know is told of each workspace that expires, and of it
// being gone already.
func TestExpiryIsTold(t *testing.T) {
	t.Parallel()
	all, c := newWorkspaces(t, 2)
	told := make(chan string, 8)
	all.OnExpire(func(handle string) {
		if _, err := all.Get(handle); !errors.Is(err, workspaces.ErrExpired) {
			t.Errorf("a workspace that has expired gives %v", err)
		}
		told <- handle
	})
	first := create(t, all)
	c.pass(time.Minute)
	second, third := create(t, all), create(t, all)
	if got := <-told; got != first.Handle {
		t.Errorf("%s made room, and %s was told", first.Handle, got)
	}
	release := third.Acquire()
	c.pass(time.Hour)
	all.Expire()
	if got := <-told; got != second.Handle {
		t.Errorf("%s expired, and %s was told", second.Handle, got)
	}
	release()
	if len(told) != 0 {
		t.Errorf("%s is held, and was told of", <-told)
	}
}
