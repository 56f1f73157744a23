package steps

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// perform does the step, or leaves all as it was.
func (w *work) perform() error {
	switch w.step.Op {
	case OpPut:
		return w.put()
	case OpRemove:
		return w.remove()
	case OpRmdir:
		return w.rmdir()
	default:
		return w.chmod()
	}
}

const notEmpty = "the directory holds what stays: what programs did not see, or what was not removed"

func (w *work) rmdir() error {
	err := unix.Unlinkat(w.dirfd(), w.base, unix.AT_REMOVEDIR)
	if files.IsErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
		return Conflict(notEmpty)
	}
	if err != nil {
		return refuse(err)
	}
	return w.syncDir()
}

func (w *work) chmod() error {
	fd, err := unix.Openat(w.dirfd(), w.base, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return refuse(err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return refuse(err)
	}
	now := files.FromStat(&st)
	switch {
	case now.Inode != w.now.Inode || now.Mode != w.now.Mode:
		return Conflict(raced)
	case now.Regular() && now.Links > 1:
		return refusal("it has other names, hard links, whose permissions would change too")
	}
	if err := files.ChmodFD(fd, st.Mode&0o7000|uint32(w.step.New.Mode.Perm())); err != nil {
		return refuse(err)
	}
	return nil
}

// put makes what is new under a temporary name, and changes the names.
func (w *work) put() error {
	inode, err := w.make()
	if err == nil {
		Fault("made")
		if err = w.Journal.write(Line{Temp: &temp{w.step.N, inode}}); err != nil {
			w.broken, err = err, refusal("the journal cannot be written: "+files.Reason(err))
		}
	}
	if err == nil {
		Fault("noted")
		err = w.place(inode)
	}
	if err != nil {
		removeTemp(w.dirfd(), w.step.Temp, inode) // else recovery does
	}
	return err
}

// remove gives what is to go a temporary name, looks at it, and removes it.
func (w *work) remove() error {
	held, err := w.lease()
	if err != nil {
		return err
	}
	defer held.release()
	if err := renameNew(w.dirfd(), w.base, w.step.Temp, false); err != nil {
		return refuse(err)
	}
	Fault("moved")
	if !w.cameOut() || held.broken() {
		if err := renameNew(w.dirfd(), w.step.Temp, w.base, false); err != nil {
			return w.rescue()
		}
		return Conflict(raced)
	}
	if err := unix.Unlinkat(w.dirfd(), w.step.Temp, 0); err != nil {
		return errors.Join(renameNew(w.dirfd(), w.step.Temp, w.base, false), refuse(err))
	}
	Fault("unlinked")
	return w.syncDir()
}

func (w *work) syncDir() error {
	_ = w.dir.Sync() // not every file system can
	return nil
}
