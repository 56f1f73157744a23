package steps

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// work is a step with what it needs open.
type work struct {
	*Transaction
	step *Step
	dir  *os.File     // of the path
	base string       // its name there
	now  *files.State // what is there; nil is nothing
	old  *os.File     // that, if it is a regular file
}

// open looks whether the path is as it is to be.
func (t *Transaction) open(s *Step) (*work, error) {
	dir, base, err := t.Target.Parent(s.Path)
	if files.Missing(err) && s.New == nil {
		return nil, ErrDone
	}
	if err != nil {
		return nil, refuse(err)
	}
	w := &work{Transaction: t, step: s, dir: dir, base: base}
	if err := w.look(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func refuse(err error) error {
	if files.Missing(err) {
		return Conflict(files.Reason(err))
	}
	return refusal(files.Reason(err))
}

func (w *work) dirfd() int { return int(w.dir.Fd()) }

func (w *work) close() {
	w.dir.Close()
	if w.old != nil {
		w.old.Close()
	}
}

func (w *work) look() (err error) {
	if w.now, err = w.Target.StatIfThere(w.step.Path); err != nil {
		return refuse(err)
	}
	if w.Target.Is(w.step.Path, w.now, w.step.New) {
		return ErrDone
	}
	if !w.Target.Is(w.step.Path, w.now, w.step.Old) {
		return Conflict(Differs(w.now, w.step.Old))
	}
	if err := w.mayWrite(); err != nil {
		return err
	}
	if w.now.Regular() && w.step.Op != OpChmod {
		return w.openOld()
	}
	return nil
}

// mayWrite holds root to what the user said of a directory: the kernel does not.
func (w *work) mayWrite() error {
	dir, err := files.StateOf(w.dirfd())
	if err == nil && dir.Mode&0o222 == 0 && w.step.Op != OpChmod {
		return refusal("its directory is read-only")
	}
	return err
}

func (w *work) openOld() error {
	fd, err := unix.Openat(w.dirfd(), w.base, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if files.IsErrno(err, unix.EACCES) {
		return refusal("it cannot be read, so that it could not be brought back")
	}
	if err != nil {
		return refuse(err)
	}
	w.old = os.NewFile(uintptr(fd), w.base)
	return w.checkOld()
}

const raced = "it is being changed at this moment"

// checkOld makes sure that the open file is what was looked at, and still is.
func (w *work) checkOld() error {
	now, err := files.StateOf(int(w.old.Fd()))
	if err != nil {
		return refuse(err)
	}
	if !now.SameFile(w.now) {
		return Conflict(raced)
	}
	return nil
}

// Differs says what the user did since.
func Differs(now, base *files.State) string {
	switch {
	case now == nil:
		return "it was removed since programs saw it"
	case base == nil:
		return "it is there now, and was not when programs made it"
	}
	return "it was changed since programs saw it"
}
