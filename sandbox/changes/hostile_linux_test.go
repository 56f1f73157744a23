package changes_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

const notPlain = "it is a device, a FIFO or a socket"

// What is no file, directory or link inside is refused, and nothing hangs or is
// followed.
func TestHostileSet(t *testing.T) {
	t.Parallel()
	outside := testfiles.Dir(t, map[string]string{"secret": "secret"})
	f := setUp(t, map[string]string{"a": "old", "ext/": "", "sub/x": ""})
	u := f.upper()
	u.check(os.Remove(filepath.Join(f.project, "ext")), os.Symlink(outside, filepath.Join(f.project, "ext")))
	const bad = "n\xffame"
	f.run(func(u upper) {
		u.check(unix.Mkfifo(u.path("fifo"), 0o644))
		u.mkdir("d", 0o755)
		u.check(unix.Mkfifo(u.path("d/fifo"), 0o644))
		socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: short(t, u.path("socket")), Net: "unix"})
		u.check(err)
		socket.SetUnlinkOnClose(false)
		u.check(socket.Close())
		u.write(bad, "x")
		u.check(os.Link(filepath.Join(outside, "secret"), u.path("linked")))
		u.write("two", "2")
		u.check(os.Link(u.path("two"), u.path("too")))
		u.symlink("/etc/passwd", "absolute")
		u.symlink("../../etc/passwd", "up")
		u.symlink("sub/../../x", "down-and-up")
		u.symlink("ext/secret", "through")
		u.symlink("ext/new", "through-to-nothing")
		u.symlink("sub/x", "fine")
		u.symlink("..", "d/parent")
		u.symlink("../..", "d/grandparent")
		u.writeMode("setuid", "#!/bin/sh\n", 0o755|os.ModeSetuid|os.ModeSetgid|os.ModeSticky)
		u.write("new\nline\x1b[2J", "")
		u.write("sparse", "")
		u.check(os.Truncate(u.path("sparse"), 1<<40))
	})
	const out = "it is a symbolic link that leads out of the directory"
	refused := []string{
		"! absolute: " + out, "! d/fifo: " + notPlain, "! d/grandparent: " + out, "! down-and-up: " + out, "! fifo: " + notPlain,
		"! linked: it is linked from elsewhere", "! n\uFFFDame: its name is no UTF-8", "! socket: " + notPlain,
		"! sparse: it is larger than what can be looked at, with all else that is held", "! through: " + out,
		"! through-to-nothing: " + out, "! up: " + out,
	}
	want(t, "held", summary(f.held()), append([]string{
		"added drwxr-xr-x d", "added Lrwxrwxrwx d/parent", "added Lrwxrwxrwx fine", "added -rw-r--r-- new\nline\x1b[2J",
		"added -rwxr-xr-x setuid", "added -rw-r--r-- too", "added -rw-r--r-- two",
	}, refused...)...)
	outcome := f.apply()
	want(t, "remaining", summary(outcome.Remaining), refused...)
	if info, err := os.Lstat(filepath.Join(f.project, "setuid")); err != nil || info.Mode() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	for name, same := range map[string]bool{"two": true, "too": true} {
		if data, err := os.ReadFile(filepath.Join(f.project, name)); (err == nil && string(data) == "2") != same {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	want(t, "outside", tree(t, outside), `-rw-r--r-- secret "secret"`)
	held, err := f.set.Discard(t.Context(), outcome.Remaining.ID, nil, nil)
	if err != nil || !held.Empty() {
		t.Errorf("%v, %q", err, summary(held))
	}
	want(t, "set", tree(t, f.upper().dir))
}

// short returns a path to the same name that fits into the address of a socket.
func short(t *testing.T, path string) string {
	t.Helper()
	link := filepath.Join("/tmp", fmt.Sprintf("s%d", os.Getpid()))
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(link) })
	return filepath.Join(link, filepath.Base(path))
}

// Trees that have no path, and directories without permissions, are refused and
// can be discarded.
func TestDeepAndUnreadable(t *testing.T) {
	t.Parallel()
	f := setUp(t, nil)
	f.run(func(u upper) {
		at, err := os.OpenRoot(u.dir)
		u.check(err)
		name := strings.Repeat("d", 200)
		for range 40 {
			u.check(at.Mkdir(name, 0o755))
			next, err := at.OpenRoot(name)
			u.check(err, at.Close())
			at = next
		}
		u.check(at.Close())
		u.write("locked/in/file", "x")
		u.write("closed", "x")
		u.check(os.Chmod(u.path("closed"), 0), os.Chmod(u.path("locked/in"), 0))
	})
	held := f.held()
	if os.Geteuid() != 0 {
		want(t, "held", summary(held)[len(held.Files):len(held.Files)+2], "! closed: permission is denied", "! "+held.Refused[1].Path+": its path is too long")
	}
	if len(held.Refused) == 0 || held.Refused[len(held.Refused)-1].Reason == "" {
		t.Errorf("%q", summary(held))
	}
	rest, err := f.set.Discard(t.Context(), held.ID, nil, nil)
	if err != nil || !rest.Empty() {
		t.Errorf("%v, %q", err, summary(rest))
	}
	want(t, "set", tree(t, f.upper().dir))
}

// A set that is too large can only be discarded.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	testenv.Variant(t, "makes 250,000 names, of which a bound is soon said to be passed")
	f := setUp(t, nil)
	release, err := f.set.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u := f.upper()
	u.write("f0", "")
	for i := range 26 {
		dir := u.path(fmt.Sprint("d", i))
		u.check(os.Mkdir(dir, 0o755))
		for j := range 10_000 {
			if err := os.Symlink("x", filepath.Join(dir, fmt.Sprint(j))); err != nil {
				t.Fatal(err)
			}
		}
	}
	u.check(release())
	if _, err := f.set.Held(t.Context(), nil); !errors.Is(err, changes.ErrTooLarge) {
		t.Fatalf("%v", err)
	}
	list, err := f.store.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Problem != changes.ErrTooLarge.Error() {
		t.Fatalf("%+v, %v", list, err)
	}
	if held, err := f.set.Discard(t.Context(), list[0].ID+"-", nil, nil); err != nil || !held.Empty() {
		t.Errorf("%v, %q", err, summary(held))
	}
}

// Of many changes some are listed.
func TestManyChanges(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "makes 10,002 names")
	f := setUp(t, nil)
	f.run(func(u upper) {
		u.mkdir("many", 0o755)
		for i := range changes.MaxListed + 1 {
			if err := os.Mkdir(u.path(fmt.Sprint("many/", i)), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	})
	held := f.held()
	if len(held.Files) != changes.MaxListed || held.OmittedFiles != 2 {
		t.Errorf("%d, and %d omitted", len(held.Files), held.OmittedFiles)
	}
}

// A FIFO, a device or a socket of the user's stays.
func TestSpecialFilesOfTheUserStay(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"d/x": ""})
	u := f.upper()
	u.check(unix.Mkfifo(filepath.Join(f.project, "d/fifo"), 0o644), unix.Mkfifo(filepath.Join(f.project, "pipe"), 0o644))
	f.run(func(u upper) { u.whiteout("d"); u.write("pipe", "a file") })
	want(t, "outcome", lines(f.apply()),
		"conflict d: the directory holds what stays: what programs did not see, or what was not removed", "deleted d/x",
		"refused d/fifo: the user's is a device, a FIFO or a socket", "refused pipe: the user's is a device, a FIFO or a socket")
	want(t, "project", tree(t, f.project), "drwxr-xr-x d ", "prw-r--r-- d/fifo ", "prw-r--r-- pipe ")
}

// A file that a leftover program rewrites in the set is not applied half.
func TestHeldFileChangesMeanwhile(t *testing.T) {
	// It sets the fault of the package.
	f := setUp(t, map[string]string{"a": "old"})
	f.run(func(u upper) { u.write("a", "looked at") })
	name := f.upper().path("a")
	changes.SetFault(func(moment string) {
		if moment == "created" {
			testfiles.Write(t, name, "never seen")
		}
	})
	defer changes.SetFault(func(string) {})
	want(t, "outcome", lines(f.apply()), "refused a: what is held changed since it was looked at")
	want(t, "project", tree(t, f.project), `-rw-r--r-- a "old"`)
}

// A user who writes at the worst moment loses nothing, whatever way the file is
// written.
func TestUserWritesAtTheWorstMoment(t *testing.T) {
	// It sets the fault of the package.
	defer changes.SetFault(func(string) {})
	rename := func(path, text string) {
		testfiles.Write(t, path+"~", text)
		if err := os.Rename(path+"~", path); err != nil {
			t.Fatal(err)
		}
	}
	inPlace := func(path, text string) { testfiles.Write(t, path, text) }
	for _, moment := range []string{"begun", "kept", "created", "copied", "made", "noted", "checked"} {
		for way, write := range map[string]func(path, text string){"rename": rename, "in place": inPlace} {
			for what, change := range map[string]func(u upper){
				"modify": func(u upper) { u.write("a", "by a program") },
				"delete": func(u upper) { u.whiteout("a") },
				"add":    func(u upper) { u.write("new", "by a program") },
			} {
				f := setUp(t, map[string]string{"a": "old"})
				f.run(change)
				path := filepath.Join(f.project, "a")
				if what == "add" {
					path = filepath.Join(f.project, "new")
				}
				wrote := false
				written := make(chan struct{})
				changes.SetFault(func(now string) {
					if now != moment || wrote {
						return
					}
					wrote = true
					// In place it has to wait for the lease, so it is done aside.
					go func() { defer close(written); write(path, "by the user") }()
					if way == "rename" || now != "checked" {
						<-written
					}
				})
				outcome := f.apply()
				changes.SetFault(func(string) {})
				if !wrote {
					continue // a step without that moment
				}
				<-written
				if data, err := os.ReadFile(path); err != nil || string(data) != "by the user" {
					t.Errorf("%s, %s, %s: %q, %v, %q", what, way, moment, data, err, lines(outcome))
				}
				for _, line := range tree(t, f.project) {
					if strings.Contains(line, ".skills-mcp-") || strings.Contains(line, ".saved-") {
						t.Errorf("%s, %s, %s: left %s", what, way, moment, line)
					}
				}
			}
		}
	}
}

// A file that somebody has open for writing is a conflict: what is written next
// would be lost.
func TestOpenForWriting(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"log": "one\n", "gone": ""})
	f.run(func(u upper) { u.write("log", "rewritten\n"); u.whiteout("gone") })
	var open []*os.File
	for _, name := range []string{"log", "gone"} {
		file, err := os.OpenFile(filepath.Join(f.project, name), os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, file)
	}
	want(t, "while it is open", lines(f.apply()),
		"conflict gone: another program has it open for writing", "conflict log: another program has it open for writing")
	for _, file := range open {
		file.Close()
	}
	want(t, "afterwards", lines(f.apply()), "deleted gone", "modified log")
}

// What was applied is told, also where the client has gone meanwhile, or nothing
// can be noted any more: nobody would know of it otherwise.
func TestAppliedIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		moment string
		fail   func(f *fixture, cancel func()) error
		want   []string
	}{
		"canceled in the middle": {"done", func(_ *fixture, cancel func()) error { cancel(); return nil },
			[]string{"modified a", "refused b: it was canceled before this"}},
		"canceled at the end": {"ended", func(_ *fixture, cancel func()) error { cancel(); return nil },
			[]string{"modified a", "modified b"}},
		"the record cannot be written": {"ended", func(f *fixture, _ func()) error {
			return os.Mkdir(filepath.Join(filepath.Dir(f.set.Dir()), "record.json.new"), 0o700)
		}, []string{"modified a", "modified b"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := setUp(t, map[string]string{"a": "old", "b": "old"})
			f.run(func(u upper) { u.write("a", "new"); u.write("b", "new") })
			held := f.held()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			once := sync.OnceFunc(func() {
				if err := test.fail(f, cancel); err != nil {
					t.Error(err)
				}
			})
			changes.SetFault(func(moment string) {
				if moment == test.moment {
					once()
				}
			})
			defer changes.SetFault(func(string) {})
			outcome, err := f.set.Apply(ctx, held.ID, nil, nil)
			if err != nil || !slices.Equal(lines(outcome), test.want) || outcome.Undo == "" {
				t.Errorf("told %q, undo %q, and %v", lines(outcome), outcome.Undo, err)
			}
		})
	}
}

// What an undo did is told also where it cannot be noted at the end.
func TestUndoCannotBeNoted(t *testing.T) {
	// It sets the fault of the package.
	f := setUp(t, map[string]string{"a": "old"})
	f.run(func(u upper) { u.write("a", "new") })
	undo := f.apply().Undo
	changes.SetFault(func(moment string) {
		if moment == "reverted" { // in the place of the note
			testfiles.Fill(t, filepath.Join(f.state, "applied", strings.TrimPrefix(undo, "ap-"), "undone.json"), map[string]string{"x": ""})
		}
	})
	defer changes.SetFault(func(string) {})
	outcome, err := f.store.Undo(t.Context(), undo)
	if !errors.Is(err, changes.ErrUnnoted) {
		t.Errorf("%v", err)
	}
	want(t, "outcome", lines(outcome), "modified a")
	want(t, "project", tree(t, f.project), `-rw-r--r-- a "old"`)
}

// An apply waits for programs no longer than it should, and one that waits for
// none has all the time that it needs.
func TestApplyWaits(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{"a": "old"})
	f.run(func(u upper) { u.write("a", "new") })
	f.open(changes.Options{Wait: 20 * time.Millisecond})
	id := f.held().ID
	set, err := f.store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	release, err := set.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := set.Apply(t.Context(), id, nil, nil); !errors.Is(err, changes.ErrBusy) {
		t.Errorf("while a program uses the set: %v", err)
	}
	if _, err := set.Discard(t.Context(), id, nil, nil); !errors.Is(err, changes.ErrBusy) {
		t.Errorf("while a program uses the set: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	outcome, err := set.Apply(t.Context(), id, nil, func(string, changes.Change) string { time.Sleep(30 * time.Millisecond); return "" })
	if err != nil {
		t.Fatal(err)
	}
	want(t, "outcome", lines(outcome), "modified a")
}

// A full disk is not said to be a directory of somebody else.
func TestStateIsFull(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root mounts file systems")
	}
	f := setUp(t, map[string]string{"a": "old"})
	at := testfiles.Dir(t, nil)
	if err := unix.Mount("tmpfs", at, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	store, err := changes.Open(filepath.Join(at, "state"), changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := store.New(changes.Target{Path: f.project})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	f.set = set
	f.run(func(u upper) { u.write("a", "new") })
	id := f.held().ID
	_ = os.WriteFile(filepath.Join(at, "filler"), make([]byte, 1<<20), 0o600) // as far as there is room
	for what, try := range map[string]func() error{
		"a new set": func() error { _, err := store.New(changes.Target{Path: f.project}); return err },
		"an apply":  func() error { _, err := set.Apply(t.Context(), id, nil, nil); return err },
	} {
		if err := try(); !errors.Is(err, changes.ErrFull) || errors.Is(err, changes.ErrState) {
			t.Errorf("%s: %v", what, err)
		}
	}
	want(t, "project", tree(t, f.project), `-rw-r--r-- a "old"`)
}
