//go:build amd64 || arm64

package entry

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/transfer"
)

// gcPercent is Go's default. Only while the program runs no garbage is
// collected.
const gcPercent = 100

// serveCopies stores files, runs the program and sends back what it has done
// to those of the workspace.
func serveCopies(order protocol.Order, input *bufio.Reader, stdin []byte, score oomScore) error {
	debug.SetGCPercent(gcPercent)
	trees, failed := store(order, input)
	if err := acknowledge(); err != nil {
		return err
	}
	if failed != nil {
		return reply(order, protocol.Report{Errno: errnoOf(failed), NotStored: true}, func(w io.Writer) error {
			for range len(order.Write) + 1 {
				if err := new(transfer.Snapshot).Send(w, nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	debug.SetGCPercent(-1)
	report := carryOut(order, stdin, score)
	debug.SetGCPercent(gcPercent)
	go endWithServer()
	return reply(order, report, func(w io.Writer) error {
		// What is there counts as memory, of which there may be none left.
		for _, dir := range []string{"/tmp", "/dev/shm", protocol.Private} {
			empty(dir, slices.Concat(order.Read, order.Write))
		}
		for _, tree := range trees {
			if err := tree.sendChanges(w); err != nil {
				return err
			}
		}
		return nil
	})
}

// tree is a directory that the program can change.
type tree struct {
	root   *os.Root
	before *transfer.Snapshot
}

// sendChanges writes what has changed, and unlocks what the program may have
// locked.
func (t tree) sendChanges(w io.Writer) error {
	if err := os.Chmod(t.root.Name(), 0o700); err != nil {
		return err
	}
	return transfer.ListWhole(t.root).SendChanges(w, t.root, t.before)
}

// store stores the skill and what else is only read as root, and the workspace
// and what else can be changed as the program's user, and remembers what that
// holds. From when it is the program's user on nothing is privileged.
func store(order protocol.Order, input *bufio.Reader) (trees []tree, err error) {
	for _, dir := range append([]string{protocol.SkillDir}, order.Read...) {
		root, err := storeIn(dir, input, transfer.Bounds{Readable: true})
		if err != nil {
			return nil, err
		}
		root.Close()
	}
	// HOME and TMPDIR are here for this run alone.
	if err := errors.Join(drop(order.Write), os.Mkdir(protocol.Home, 0o700), os.Mkdir(protocol.Tmp, 0o700)); err != nil {
		return nil, err
	}
	for _, dir := range append([]string{protocol.Workspace}, order.Write...) {
		root, err := storeIn(dir, input, transfer.Bounds{})
		if err != nil {
			return nil, err
		}
		before := transfer.ListWhole(root)
		if err := before.Restore(root); err != nil {
			return nil, err
		}
		trees = append(trees, tree{root, before})
	}
	return trees, nil
}

// storeIn stores what is to be in a directory.
func storeIn(dir string, input *bufio.Reader, bounds transfer.Bounds) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err == nil {
		_, err = transfer.Receive(input, root, bounds)
	}
	return root, err
}

// drop gives up all privileges for good. The program's user owns some directories
// then, besides those of every run.
func drop(own []string) error {
	return inOrder(
		shareOutput,
		func() error { return chown(append(own, protocol.Workspace, protocol.Private)...) },
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

// empty removes what is in a directory, as far as that is possible, but for other
// directories and those that they are in.
func empty(dir string, others []string) {
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
			name := filepath.Join(dir, entry.Name())
			if !slices.ContainsFunc(others, func(other string) bool { return other == name || strings.HasPrefix(other, name+"/") }) {
				remove(name, entry.IsDir())
			}
		}
	}
}

// remove keeps no directory open for every level, as os.RemoveAll does: with as
// many as a program can make, that takes all the memory there is.
func remove(name string, dir bool) {
	if dir {
		_ = tempdir.RemoveFlat(name)
	} else {
		_ = os.Remove(name)
	}
}

// endWithServer ends this process when the server has let go of it, though
// nothing is read from standard input any more, nor killed.
func endWithServer() {
	io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}
