package steps

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// make makes what is new under the temporary name.
func (w *work) make() (inode uint64, err error) {
	switch s := w.step.New; {
	case s.Dir():
		err = w.makeDir()
	case s.Symlink():
		err = unix.Symlinkat(s.Link, w.dirfd(), w.step.Temp)
	default:
		err = w.makeFile()
	}
	if err != nil {
		if known, ok := errors.AsType[refusal](err); ok {
			return 0, known
		}
		return 0, refuse(err)
	}
	made, err := files.StateAt(w.dirfd(), w.step.Temp)
	if err != nil {
		return 0, refuse(err)
	}
	return made.Inode, nil
}

func (w *work) makeDir() error {
	if err := unix.Mkdirat(w.dirfd(), w.step.Temp, 0o700); err != nil {
		return err
	}
	fd, err := unix.Openat(w.dirfd(), w.step.Temp, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	made := os.NewFile(uintptr(fd), w.step.Temp)
	defer made.Close()
	w.giveOwner(made)
	var st unix.Stat_t // the bit that hands down the group stays
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	return unix.Fchmod(fd, st.Mode&unix.S_ISGID|uint32(w.step.New.Mode.Perm()))
}

func (w *work) makeFile() error {
	fd, err := unix.Openat(w.dirfd(), w.step.Temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	made := os.NewFile(uintptr(fd), w.step.Temp)
	defer made.Close()
	Fault("created")
	source, err := w.Source(w.step)
	if err != nil {
		return err
	}
	defer source.Close()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(made, hash), io.LimitReader(source, w.step.New.Size+1))
	if err != nil {
		return err
	}
	if n != w.step.New.Size || files.DigestPrefix+hex.EncodeToString(hash.Sum(nil)) != w.step.New.Digest {
		return refusal("what is held changed since it was looked at")
	}
	Fault("copied")
	w.giveOwner(made)
	if w.Original {
		copyAttributes(source, made)
	} else if w.old != nil {
		copyAttributes(w.old, made)
	}
	if err := made.Chmod(w.step.New.Mode.Perm()); err != nil {
		return err
	}
	if w.Original {
		at := unix.NsecToTimespec(w.step.New.Modified)
		if err := unix.UtimesNanoAt(w.dirfd(), w.step.Temp, []unix.Timespec{at, at}, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
	}
	return made.Sync()
}

// giveOwner makes what is new belong to whom it is to belong to, where this
// process may do that.
func (w *work) giveOwner(made *os.File) {
	like, err := files.StateOf(w.dirfd())
	if w.now != nil {
		like = w.now
	}
	if w.Original {
		like = w.step.New
	}
	is, errMade := files.StateOf(int(made.Fd()))
	if err != nil || errMade != nil || is.UID == like.UID && is.GID == like.GID {
		return
	}
	if made.Chown(int(like.UID), int(like.GID)) != nil {
		_ = made.Chown(-1, int(like.GID)) // a group of the user's
	}
}
