package files

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// OpaqueName is the attribute of directories that hide all that is below them in
// the layers under theirs.
const OpaqueName = "user.overlay.opaque"

// in calls do with the directory of a path, which is made writable for that.
func (t *Tree) in(name string, do func(dirfd int, base string) error) error {
	dir, base, err := t.Parent(name)
	if err != nil {
		if Missing(err) {
			return nil
		}
		return err
	}
	defer dir.Close()
	err = do(int(dir.Fd()), base)
	if !IsErrno(err, unix.EACCES) {
		return err
	}
	was, err := StateOf(int(dir.Fd()))
	if err != nil {
		return err
	}
	if err := ChmodFD(int(dir.Fd()), uint32(was.Mode.Perm()|0o700)); err != nil {
		return err
	}
	err = do(int(dir.Fd()), base)
	return errors.Join(err, ChmodFD(int(dir.Fd()), uint32(was.Mode.Perm())))
}

// Remove removes a name. That it is gone already is no error.
func (t *Tree) Remove(name string, flags int) error {
	return t.in(name, func(dirfd int, base string) error {
		if err := unix.Unlinkat(dirfd, base, flags); !IsErrno(err, unix.ENOENT) {
			return err
		}
		return nil
	})
}

// RemoveAll removes a name with all below it.
func (t *Tree) RemoveAll(name string) error {
	if err := t.Remove(name, 0); !IsErrno(err, unix.EISDIR, unix.EPERM) {
		return err
	}
	return t.in(name, func(dirfd int, base string) error { return tempdir.Remove(procPath(dirfd) + "/" + base) })
}

// Mkdir makes a directory like another one, if nothing is there.
func (t *Tree) Mkdir(name string, like *State) error {
	return t.in(name, func(dirfd int, base string) error {
		err := unix.Mkdirat(dirfd, base, 0o700)
		if IsErrno(err, unix.EEXIST) {
			return nil
		}
		if err != nil {
			return err
		}
		_ = unix.Fchownat(dirfd, base, int(like.UID), int(like.GID), unix.AT_SYMLINK_NOFOLLOW) // only root can, and needs it
		return t.Chmod(name, uint32(like.Mode.Perm()))
	})
}

// Whiteout marks that nothing is there.
func (t *Tree) Whiteout(name string) error {
	return t.in(name, func(dirfd int, base string) error {
		if err := unix.Mknodat(dirfd, base, unix.S_IFCHR, 0); !IsErrno(err, unix.EEXIST) {
			return err
		}
		return nil
	})
}

// Chmod changes the permissions of what is no symbolic link.
func (t *Tree) Chmod(name string, mode uint32) error {
	fd, err := t.Open(name, unix.O_PATH|unix.O_NOFOLLOW)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return ChmodFD(fd, mode)
}

// ChmodFD changes permissions by a descriptor of any kind.
func ChmodFD(fd int, mode uint32) error {
	if s, err := StateOf(fd); err != nil || s.Symlink() {
		return errors.Join(err, unix.EINVAL)
	}
	return unix.Fchmodat(unix.AT_FDCWD, procPath(fd), mode, 0)
}

// ClearOpaque has a directory of an upper layer hide nothing of those below it
// any more.
func (t *Tree) ClearOpaque(name string) error {
	fd, err := t.Open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := unix.Fremovexattr(fd, OpaqueName); !IsErrno(err, unix.ENODATA) {
		return err
	}
	return nil
}
