package steps

import (
	"bytes"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// lease keeps others from opening a file for writing while its name changes:
// they wait until the lease is given back.
type lease struct{ file *os.File }

// A program that this process is just starting has all that is open here, until
// it runs: what was written a moment ago too. So it is tried again.
const (
	leaseTries = 20
	leasePause = 5 * time.Millisecond
)

// lease takes one on what is there, and makes sure that the name is still that of
// what was looked at. It fails with a [Conflict] where it is not, or somebody has
// the file open for writing, whose next write would get lost. Where there are no
// leases, as on network file systems, or the file is another user's, it is none.
func (w *work) lease() (held lease, err error) {
	for tries := 0; w.old != nil; tries++ {
		if _, err = unix.FcntlInt(w.old.Fd(), unix.F_SETLEASE, unix.F_RDLCK); err == nil {
			held.file = w.old
		}
		if !files.IsErrno(err, unix.EAGAIN) {
			break
		}
		if tries == leaseTries {
			return lease{}, Conflict("another program has it open for writing")
		}
		time.Sleep(leasePause)
	}
	now, err := files.StateAt(w.dirfd(), w.base)
	if err != nil || !now.SameFile(w.now) {
		held.release()
		return lease{}, Conflict(raced)
	}
	Fault("checked")
	return held, nil
}

// broken reports whether somebody waits to open the file for writing.
func (l lease) broken() bool {
	if l.file == nil {
		return false
	}
	is, err := unix.FcntlInt(l.file.Fd(), unix.F_GETLEASE, 0)
	return err != nil || is != unix.F_RDLCK
}

func (l lease) release() {
	if l.file != nil {
		_, _ = unix.FcntlInt(l.file.Fd(), unix.F_SETLEASE, unix.F_UNLCK) // else it goes when the file is closed
	}
}

// copyAttributes copies extended attributes, as far as this process may and the
// file system can: not those that give rights to programs, nor an overlay's.
func copyAttributes(from, to *os.File) {
	names := make([]byte, 64<<10)
	n, err := unix.Flistxattr(int(from.Fd()), names)
	if err != nil {
		return
	}
	for name := range bytes.SplitSeq(names[:n], []byte{0}) {
		attr := string(name)
		if attr == "" || attr == "security.capability" || strings.HasPrefix(attr, "user.overlay.") || strings.HasPrefix(attr, "trusted.") {
			continue
		}
		value := make([]byte, 64<<10)
		if n, err := unix.Fgetxattr(int(from.Fd()), attr, value); err == nil {
			_ = unix.Fsetxattr(int(to.Fd()), attr, value[:n], 0) // as far as possible
		}
	}
}
