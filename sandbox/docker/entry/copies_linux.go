//go:build amd64 || arm64

package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/transfer"
)

// gcPercent is Go's default. Only while the program runs no garbage is
// collected.
const gcPercent = 100

// serveCopies stores files, runs the program and sends back what it has done
// to those of the workspace.
func serveCopies(order protocol.Order, input *bufio.Reader, stdin []byte, score oomScore) error {
	debug.SetGCPercent(gcPercent)
	workspace, before, failed := store(input)
	if err := acknowledge(); err != nil {
		return err
	}
	if failed != nil {
		return reply(order, protocol.Report{Errno: errnoOf(failed), NotStored: true}, func(w io.Writer) error {
			return new(transfer.Snapshot).Send(w, nil)
		})
	}
	reserve := newReserve()
	debug.SetGCPercent(-1)
	report := carryOut(order, stdin, score)
	unix.Munmap(reserve) // fails where there is none
	debug.SetGCPercent(gcPercent)
	go endWithServer()
	return reply(order, report, func(w io.Writer) error {
		// What is there counts as memory, of which there may be none left.
		for _, dir := range []string{"/tmp", "/dev/shm", protocol.Private} {
			empty(dir)
		}
		if err := os.Chmod(protocol.Workspace, 0o700); err != nil { // the program may have locked it
			return err
		}
		return transfer.ListWhole(workspace).SendChanges(w, workspace, before)
	})
}

// store stores the skill as root and the workspace as the program's user, and
// remembers what the workspace holds. From then on nothing is privileged.
func store(input *bufio.Reader) (*os.Root, *transfer.Snapshot, error) {
	skill, err := os.OpenRoot(protocol.SkillDir)
	if err != nil {
		return nil, nil, err
	}
	defer skill.Close()
	if _, err := transfer.Receive(input, skill, transfer.Bounds{Readable: true}); err != nil {
		return nil, nil, err
	}
	// HOME and TMPDIR are here for this run alone.
	if err := errors.Join(drop(), os.Mkdir(protocol.Home, 0o700), os.Mkdir(protocol.Tmp, 0o700)); err != nil {
		return nil, nil, err
	}
	workspace, err := os.OpenRoot(protocol.Workspace)
	if err != nil {
		return nil, nil, err
	}
	if _, err := transfer.Receive(input, workspace, transfer.Bounds{}); err != nil {
		return nil, nil, err
	}
	return workspace, transfer.ListWhole(workspace), nil
}

// drop gives up all privileges for good.
func drop() error {
	return inOrder(
		shareOutput,
		func() error { return chown(protocol.Workspace, protocol.Private) },
		dropBounding,
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setresgid(protocol.User, protocol.User, protocol.User) },
		func() error { return syscall.Setresuid(protocol.User, protocol.User, protocol.User) },
		hide, // the change of users may have undone it
		confine,
	)
}

// chown makes the program's user the owner of directories, where the engine has
// not.
func chown(dirs ...string) error {
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err == nil && info.Sys().(*syscall.Stat_t).Uid != protocol.User {
			err = os.Chown(dir, protocol.User, protocol.User)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shareOutput lets programs open /dev/stdout and /dev/stderr, which the engine
// gave to root.
func shareOutput() error { return errors.Join(os.Stdout.Chmod(0o622), os.Stderr.Chmod(0o622)) }

// dropBounding empties the bounding set of this thread, which the program
// inherits. The others lose the rest with their user.
func dropBounding() error {
	for capability := uintptr(0); ; capability++ {
		set, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, capability, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) { // there are no more
			return nil
		}
		if err == nil && set == 1 {
			err = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		}
		if err != nil {
			return err
		}
	}
}

// emptyAtOnce is how many names are read at once of a directory that is emptied,
// however many there are.
const emptyAtOnce = 256

// empty removes what is in a directory, as far as that is possible.
func empty(dir string) {
	d, err := os.Open(dir)
	if err != nil {
		return
	}
	defer d.Close()
	for {
		entries, _ := d.ReadDir(emptyAtOnce)
		if len(entries) == 0 {
			return
		}
		for _, entry := range entries {
			os.RemoveAll(filepath.Join(dir, entry.Name()))
		}
	}
}

// endWithServer ends this process when the server has let go of it, though
// nothing is read from standard input any more, nor killed.
func endWithServer() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}
