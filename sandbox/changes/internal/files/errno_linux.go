package files

import (
	"errors"
	"io/fs"
	"slices"

	"golang.org/x/sys/unix"
)

// IsErrno reports whether err is one of these.
func IsErrno(err error, errno ...unix.Errno) bool {
	return slices.ContainsFunc(errno, func(e unix.Errno) bool { return errors.Is(err, e) })
}

// Missing reports whether an error says that something is not there.
func Missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || IsErrno(err, unix.ENOTDIR)
}

// Reason says in one sentence why something could not be done, without a path.
func Reason(err error) string {
	for _, known := range []struct {
		errno unix.Errno
		text  string
	}{
		{unix.ENOSPC, "there is no space left on the disk"},
		{unix.EDQUOT, "the disk quota is used up"},
		{unix.EFBIG, "it is larger than files may be"},
		{unix.EROFS, "the file system is read-only"},
		{unix.EACCES, "permission is denied"},
		{unix.EPERM, "permission is denied"},
		{unix.ELOOP, "it is below a symbolic link"},
		{unix.EXDEV, "it is on another file system"},
		{unix.ENOENT, "its directory is not there any more"},
		{unix.ENOTDIR, "its directory is not there any more"},
		{unix.ENOTEMPTY, "the directory is not empty"},
		{unix.EEXIST, "something is there"},
		{unix.EBUSY, "it is in use by the system"},
		{unix.ENAMETOOLONG, "its path is too long"},
		{unix.EINVAL, "the file system cannot hold it"},
	} {
		if errors.Is(err, known.errno) {
			return known.text
		}
	}
	if errors.Is(err, ErrChanging) {
		return "it changes while it is read"
	}
	return "reading or writing failed"
}
