package steps

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// place gives the new file its name.
func (w *work) place(inode uint64) error {
	if w.now == nil {
		if err := renameNew(w.dirfd(), w.step.Temp, w.base, w.step.New.Dir()); err != nil {
			if files.IsErrno(err, unix.EEXIST, unix.ENOTEMPTY, unix.ENOTDIR, unix.EISDIR) {
				return Conflict(Differs(w.step.New, nil))
			}
			return refuse(err)
		}
		return w.syncDir()
	}
	held, err := w.lease()
	if err != nil {
		return err
	}
	defer held.release()
	err = unix.Renameat2(w.dirfd(), w.step.Temp, w.dirfd(), w.base, unix.RENAME_EXCHANGE)
	if files.IsErrno(err, unix.EINVAL, unix.ENOSYS) { // the file system cannot: its last look was a moment ago
		err = unix.Renameat(w.dirfd(), w.step.Temp, w.dirfd(), w.base)
		if err == nil {
			return w.syncDir()
		}
	}
	if err != nil {
		return refuse(err)
	}
	Fault("exchanged")
	if !w.cameOut() || held.broken() {
		return w.swapBack(inode)
	}
	if err := unlink(w.dirfd(), w.step.Temp, w.now); err != nil {
		back := w.swapBack(inode)
		if files.IsErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
			return Conflict(notEmpty)
		}
		return back
	}
	Fault("unlinked")
	return w.syncDir()
}

// cameOut reports whether what has the temporary name now is what was looked
// at. To change its name has changed the time of its status.
func (w *work) cameOut() bool {
	out, err := files.StateAt(w.dirfd(), w.step.Temp)
	if err != nil {
		return false
	}
	out.Changed = w.now.Changed
	return out.SameFile(w.now) && out.Link == w.now.Link
}

// swapBack changes the names back, since what came out was not what was looked
// at. It may be replaced meanwhile, again and again.
func (w *work) swapBack(inode uint64) error {
	for range 100 {
		Fault("swapping")
		err := unix.Renameat2(w.dirfd(), w.step.Temp, w.dirfd(), w.base, unix.RENAME_EXCHANGE)
		if files.IsErrno(err, unix.ENOENT) { // it was removed: what came out is what there is
			err = renameNew(w.dirfd(), w.step.Temp, w.base, false)
			if err == nil {
				return Conflict(raced)
			}
		}
		if err != nil {
			continue
		}
		if out, err := files.StateAt(w.dirfd(), w.step.Temp); err == nil && out.Inode == inode {
			return Conflict(raced) // put removes it
		}
	}
	return w.rescue()
}

// rescue puts what has the temporary name beside it under a name that says what
// it is, since nothing of the user's may be lost.
func (w *work) rescue() error {
	saved, err := rescue(w.dirfd(), w.step.Temp, w.base)
	if err != nil {
		return refusal(raced)
	}
	return Conflict(fmt.Sprintf("it kept changing; one state of it is saved beside it as %q", saved))
}

func rescue(dirfd int, temp, base string) (saved string, err error) {
	saved = base + ".saved-" + NewName()
	if err := renameNew(dirfd, temp, saved, false); files.IsErrno(err, unix.ENAMETOOLONG) {
		saved = "saved-" + NewName()
		return saved, renameNew(dirfd, temp, saved, false)
	} else {
		return saved, err
	}
}
