package escape

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// projectAttempts are about a project that programs may change, of which two files
// are hidden: "secret" and "deep/secret". The directory is [Victims.Dir] and, as
// the program sees it, PROJECT, where it starts.
func projectAttempts() []Attempt {
	return group("project", []Attempt{
		{Name: "read-hidden-file", Shell: `grep -q secret secret`, Alone: true},
		{Name: "read-hidden-file-where-it-is", Try: func(v Victims) error { return readsSecret(v.secret()) }},
		{Name: "stat-hidden-file", Shell: `test -e secret || test -L secret`},
		{Name: "list-hidden-file", Shell: `ls | grep -qx secret`},
		{Name: "read-hidden-file-below", Shell: `grep -q secret deep/secret`},
		{Name: "read-hidden-file-by-proc-cwd", Shell: `grep -q secret /proc/self/cwd/secret`},
		{Name: "read-hidden-file-by-proc-root", Shell: `grep -q secret "/proc/self/root$VICTIM/secret"`},
		{Name: "read-hidden-file-by-link", Shell: `ln -s secret link && grep -q secret link`},
		{Name: "read-hidden-file-by-hard-link", Shell: `ln secret linked && grep -q secret linked`},
		{Name: "read-hidden-file-by-renaming", Shell: `mv secret moved && grep -q secret moved`},
		{Name: "read-hidden-file-by-renaming-above", Shell: `mv deep moved && grep -q secret moved/secret`},
		{Name: "read-hidden-file-by-exchange", Try: exchangesAbove},
		{Name: "read-hidden-file-by-copying", Shell: `cp -a deep copied && grep -q secret copied/secret`},
		{Name: "read-hidden-file-by-handle", Try: readByHandle, Root: true},
		{Name: "change-file-of-user", Shell: `echo changed > program`, Done: programChanged, Alone: true},
		{Name: "change-file-of-user-where-it-is", Shell: `echo changed > "$VICTIM/program"`, Done: programChanged},
		{Name: "replace-file-of-user", Shell: `echo changed > new && mv new program`, Done: programChanged},
		{Name: "remove-file-of-user", Shell: `rm program`, Done: programChanged},
		{Name: "overwrite-hidden-file", Shell: `echo changed > secret`, Done: secretChanged},
		{Name: "remove-hidden-directory", Shell: `rm -r deep`, Done: func(v Victims) bool { return !exists("deep/secret")(v) }},
		{Name: "create-file-of-user", Shell: `: > new`, Done: exists("new")},
		{Name: "leave-by-parent-directories", Shell: `: > ../new`, Done: exists("../new"), Alone: true},
		{Name: "share-lock-of-project", Try: func(Victims) error { return sharesLock("program") }},
		{Name: "write-to-pipe-of-user", Try: func(Victims) error {
			return opens("pipe", unix.O_WRONLY|unix.O_NONBLOCK)
		}},
		{Name: "connect-to-socket-of-user", Try: func(Victims) error {
			connection, err := net.Dial("unix", "socket")
			return errors.Join(err, closed(connection))
		}},
	})
}

// TryProject makes attempts on a project, first in a plain subprocess and then in
// each of the backends, and returns their outcomes, in the order of the backends.
// It is an error if one cannot be shown, or if what a backend gave was no access to
// review.
func TryProject(t *testing.T, backends ...sandbox.Backend) map[string][]Outcome {
	t.Helper()
	s := newScene(t)
	s.prepare = s.project
	attempts := slices.DeleteFunc(projectAttempts(), func(a Attempt) bool { return a.Root && os.Geteuid() != 0 })
	return s.try(t, control(), attempts, backends)
}

// project makes of a victim's directory a project and its share, or of those of
// many, each of which is a directory of the project.
func (s *scene) project(t *testing.T, victims []Victims) []sandbox.Share {
	t.Helper()
	project := filepath.Join(t.TempDir(), "project") // with something above it
	mask, changes := t.TempDir(), filepath.Join(t.TempDir(), "changes")
	t.Cleanup(func() { tempdir.Remove(changes) }) // not all in it can be entered
	if err := os.Mkdir(changes, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range victims {
		part := ""
		if len(victims) > 1 {
			part = strconv.Itoa(i)
		}
		victims[i].Dir = filepath.Join(project, part)
		s.hide(t, victims[i], filepath.Join(mask, part))
	}
	return []sandbox.Share{{Path: project, Layers: []string{mask, project}, Access: sandbox.AccessReview, Changes: changes}}
}

// hide makes what is in a project, or in a directory of it, and hides of it what
// is secret.
func (s *scene) hide(t *testing.T, v Victims, mask string) {
	t.Helper()
	err := errors.Join(
		os.MkdirAll(filepath.Join(v.Dir, "deep"), 0o755), os.MkdirAll(filepath.Join(mask, "deep"), 0o755),
		os.WriteFile(v.secret(), []byte(secret), 0o600), os.WriteFile(filepath.Join(v.Dir, "deep", "secret"), []byte(secret), 0o600),
		os.WriteFile(filepath.Join(v.Dir, "program"), []byte(untouched), 0o755),
		unix.Mknod(filepath.Join(mask, "secret"), unix.S_IFCHR, 0), unix.Mknod(filepath.Join(mask, "deep", "secret"), unix.S_IFCHR, 0))
	if err != nil {
		t.Fatal(err)
	}
	openLocked(t, filepath.Join(v.Dir, "program"), os.O_RDWR)
	readPipe(t, filepath.Join(v.Dir, "pipe"))
	s.listenIn(t, v.Dir)
}

// readPipe makes a pipe that anybody may write, and from which somebody reads.
func readPipe(t *testing.T, name string) {
	t.Helper()
	if err := errors.Join(unix.Mkfifo(name, 0o666), os.Chmod(name, 0o666)); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(name, os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Close() })
}

// listenIn listens on a socket in a directory, whose path may be too long to be
// that of a socket, to which anybody may connect.
func (s *scene) listenIn(t *testing.T, dir string) {
	t.Helper()
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	serve(t, "unix", fmt.Sprintf("/proc/self/fd/%d/socket", fd))
	if err := os.Chmod(filepath.Join(dir, "socket"), 0o777); err != nil {
		t.Fatal(err)
	}
}

// untouched is what a program of the user holds.
const untouched = "#!/bin/sh\n"

func programChanged(v Victims) bool {
	content, err := os.ReadFile(filepath.Join(v.Dir, "program"))
	return err != nil || string(content) != untouched
}

// exchangesAbove exchanges the directory of a hidden file with one that is the
// program's own.
func exchangesAbove(Victims) error {
	if err := os.Mkdir("own", 0o755); err != nil {
		return err
	}
	if err := unix.Renameat2(unix.AT_FDCWD, "deep", unix.AT_FDCWD, "own", unix.RENAME_EXCHANGE); err != nil {
		return err
	}
	return readsSecret("own/secret")
}

func opens(name string, flags int) error {
	fd, err := unix.Open(name, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func closed(connection net.Conn) error {
	if connection == nil {
		return nil
	}
	return connection.Close()
}
