package escape

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// grantAttempts are made by programs that are granted something: a proxy for
// their connections, the directory "shown" in [Victims.Dir], beside which is
// what is not, and a library.
func grantAttempts() []Attempt {
	return slices.Concat(group("proxy", proxyAttempts()), group("shown", shownAttempts()), group("library", libraryAttempts()))
}

// TryGrants is [Try] for the attempts of programs that have grants. Where a
// backend serves no connections, it is to keep programs from all.
func TryGrants(t *testing.T, backends ...sandbox.Backend) map[string][]Outcome {
	t.Helper()
	s := newScene(t)
	s.prepare, s.granted = s.shown, true
	return s.try(t, controlOfGrants(), grantAttempts(), backends)
}

// controlOfGrants has what was granted.
func controlOfGrants() Attempt {
	return Attempt{Name: "control of grants", Try: func(v Victims) error {
		if _, err := os.ReadFile(filepath.Join(v.shown(), "file")); err != nil {
			return err
		}
		if _, err := os.ReadFile(filepath.Join(v.Library, "file")); err != nil && !strings.HasPrefix(v.Library, nowhere) {
			return err
		}
		if v.Proxy == "" {
			return nil
		}
		connection, err := net.DialTimeout("tcp4", v.Proxy, dialPatience)
		return errors.Join(err, closed(connection))
	}}
}

// closing is an Egress that takes connections and closes them.
type closing struct{}

func (closing) Serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		connection.Close()
	}
}

func (v Victims) shown() string { return filepath.Join(v.Dir, "shown") }

// shown makes what programs are shown, and what is beside it.
func (s *scene) shown(t *testing.T, victims []Victims) []sandbox.Share {
	t.Helper()
	for i := range victims {
		v := &victims[i]
		v.Dir = filepath.Join(v.Dir, "above")
		err := errors.Join(
			os.MkdirAll(filepath.Join(v.shown(), "deep"), 0o755),
			os.WriteFile(v.secret(), []byte(secret), 0o600),
			os.WriteFile(filepath.Join(v.shown(), "file"), []byte(untouched), 0o644),
			os.WriteFile(filepath.Join(v.shown(), "deep", "file"), []byte(untouched), 0o644),
			os.Symlink("../secret", filepath.Join(v.shown(), "link")))
		if err != nil {
			t.Fatal(err)
		}
		openLocked(t, filepath.Join(v.shown(), "file"), os.O_RDONLY)
		readPipe(t, filepath.Join(v.shown(), "pipe"))
		s.listenIn(t, v.shown())
	}
	return nil
}

// connectWithin connects to a socket in a directory.
func connectWithin(dir string) error {
	if err := os.Chdir(dir); err != nil { // the whole path may be too long
		return err
	}
	return dialUnix("unix", "socket")
}

func shownAttempts() []Attempt {
	in := func(name string, try func(name string) error) func(Victims) error {
		return func(v Victims) error { return try(filepath.Join(v.shown(), name)) }
	}
	attempts := []Attempt{
		{Name: "write-in-shown", Shell: `echo x > "$VICTIM/shown/file"`},
		{Name: "append-in-shown", Shell: `echo x >> "$VICTIM/shown/deep/file"`},
		{Name: "truncate-in-shown", Try: in("file", func(name string) error { return os.Truncate(name, 0) })},
		{Name: "create-in-shown", Shell: `: > "$VICTIM/shown/new"`},
		{Name: "create-below-shown", Shell: `mkdir "$VICTIM/shown/deep/new"`},
		{Name: "link-in-shown", Shell: `ln -s / "$VICTIM/shown/new"`},
		{Name: "move-into-shown", Shell: `echo x > own && mv own "$VICTIM/shown/file"`},
		{Name: "remove-from-shown", Shell: `rm -f "$VICTIM/shown/file"`},
		{Name: "rename-in-shown", Shell: `mv "$VICTIM/shown/file" "$VICTIM/shown/new"`},
		{Name: "rename-shown", Shell: `mv "$VICTIM/shown" "$VICTIM/moved"`},
		{Name: "rename-above-shown", Shell: `mv "$VICTIM" "$VICTIM.moved"`},
		{Name: "exchange-shown", Try: exchangeShown},
		{Name: "replace-shown-by-link", Shell: `mv "$VICTIM/shown" "$VICTIM/moved" && ln -s "$PWD" "$VICTIM/shown"`},
		{Name: "change-mode-in-shown", Shell: `chmod 600 "$VICTIM/shown/file"`},
		{Name: "change-mode-of-shown", Shell: `chmod 700 "$VICTIM/shown"`},
		{Name: "change-times-in-shown", Shell: `touch -d 2000-01-01 "$VICTIM/shown/file"`},
		{Name: "change-owner-in-shown", Try: in("file", func(name string) error { return os.Chown(name, 12345, 12345) }), Root: true},
		{Name: "write-in-shown-by-hard-link", Shell: `ln "$VICTIM/shown/file" hard && echo x > hard`},
		{Name: "write-in-shown-by-link", Shell: `ln -s "$VICTIM/shown/file" link && echo x > link`},
		{Name: "write-in-shown-by-proc-root", Shell: `echo x > "/proc/self/root$VICTIM/shown/file"`},
		{Name: "write-in-shown-by-proc-cwd", Shell: `cd "$VICTIM/shown" && echo x > /proc/self/cwd/file`},
		{Name: "write-in-shown-by-opening-again", Shell: `exec 3< "$VICTIM/shown/file" && echo x > /proc/self/fd/3`},
		{Name: "write-in-shown-by-handle", Try: in("file", writeByHandle), Root: true},
		{Name: "mount-writable-over-shown", Try: in("file", remount), Root: true},
		{Name: "read-beside-shown", Shell: `grep -q secret "$VICTIM/secret"`},
		{Name: "read-beside-shown-by-parent", Shell: `cd "$VICTIM/shown/deep" && grep -q secret ../../secret`},
		{Name: "read-beside-shown-by-its-link", Shell: `grep -q secret "$VICTIM/shown/link"`},
		{Name: "list-above-shown", Shell: `ls "$VICTIM" | grep -qx secret`},
		{Name: "watch-shown", Try: in("", watch)},
		{Name: "share-lock-of-shown", Try: in("file", sharesLock)},
		{Name: "write-to-pipe-in-shown", Try: in("pipe", func(name string) error { return opens(name, unix.O_WRONLY|unix.O_NONBLOCK) })},
		{Name: "connect-to-socket-in-shown", Try: in("", connectWithin)},
		{Name: "leave-set-user-id-in-shown", Shell: `cp /bin/true "$VICTIM/shown/new" && chmod 4755 "$VICTIM/shown/new"`},
	}
	for i, attempt := range attempts {
		if !slices.Contains(readsShown, attempt.Name) {
			attempts[i].Done = func(v Victims) bool { return changed(v.shown(), 5) }
		}
	}
	return attempts
}

// readsShown are attempts that succeed by what they learn, or by what is in the
// way of others.
var readsShown = []string{
	"read-beside-shown", "read-beside-shown-by-parent", "read-beside-shown-by-its-link", "list-above-shown",
	"watch-shown", "share-lock-of-shown", "write-to-pipe-in-shown", "connect-to-socket-in-shown",
}

// changed reports whether anything of what is shown in a directory, which had so
// many entries, is another than before.
func changed(dir string, count int) bool {
	file, err := os.Lstat(filepath.Join(dir, "file"))
	if err != nil || file.Mode() != 0o644 || time.Since(file.ModTime()) > time.Hour {
		return true
	}
	var stat unix.Stat_t
	if unix.Stat(filepath.Join(dir, "file"), &stat) != nil || int(stat.Uid) != os.Geteuid() {
		return true
	}
	for below, want := range map[string]int{"": count, "deep": 1} {
		entries, err := os.ReadDir(filepath.Join(dir, below))
		content, readErr := os.ReadFile(filepath.Join(dir, below, "file"))
		if err != nil || readErr != nil || len(entries) != want || string(content) != untouched {
			return true
		}
	}
	top, err := os.Lstat(dir)
	return err != nil || top.Mode() != os.ModeDir|0o755
}

func exchangeShown(v Victims) error {
	if err := os.Mkdir("own", 0o755); err != nil {
		return err
	}
	return unix.Renameat2(unix.AT_FDCWD, "own", unix.AT_FDCWD, v.shown(), unix.RENAME_EXCHANGE)
}

// writeByHandle opens a file to write by what names it to the kernel alone.
func writeByHandle(name string) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, name, 0)
	if err != nil {
		return err
	}
	dir, err := unix.Open(filepath.Dir(name), unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	fd, err := unix.OpenByHandleAt(dir, handle, unix.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte("written"))
	return err
}

// remount writes to a file by a mount of its own of the directory, which can be
// written.
func remount(name string) error {
	tree, err := unix.OpenTree(unix.AT_FDCWD, filepath.Dir(name), unix.OPEN_TREE_CLONE)
	if err != nil {
		return err
	}
	attr := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &attr); err != nil {
		return err
	}
	fd, err := unix.Openat(tree, filepath.Base(name), unix.O_WRONLY|unix.O_TRUNC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}
