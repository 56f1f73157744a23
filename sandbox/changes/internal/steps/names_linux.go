package steps

import (
	"crypto/rand"
	"encoding/hex"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// NewName returns the name of something new: 16 hex digits.
func NewName() string {
	random := make([]byte, 8)
	rand.Read(random) // never fails
	return hex.EncodeToString(random)
}

// removeTemp removes what was made under a temporary name, if that is what has
// it. An inode of zero is any.
func removeTemp(dirfd int, name string, inode uint64) {
	is, err := files.StateAt(dirfd, name)
	if err != nil || inode != 0 && is.Inode != inode {
		return
	}
	_ = unlink(dirfd, name, is)
}

// unlink removes a file, or a directory that is empty.
func unlink(dirfd int, name string, is *files.State) error {
	if is.Dir() {
		return unix.Unlinkat(dirfd, name, unix.AT_REMOVEDIR)
	}
	return unix.Unlinkat(dirfd, name, 0)
}

// renameNew gives a file a name that is free, or fails with EEXIST. A directory
// that the file system can only rename in the old way takes the place of an
// empty one.
func renameNew(dirfd int, from, to string, dir bool) error {
	err := unix.Renameat2(dirfd, from, dirfd, to, unix.RENAME_NOREPLACE)
	if !files.IsErrno(err, unix.EINVAL, unix.ENOSYS) {
		return err
	}
	if dir {
		return unix.Renameat(dirfd, from, dirfd, to)
	}
	if err := unix.Linkat(dirfd, from, dirfd, to, 0); err != nil {
		return err
	}
	return unix.Unlinkat(dirfd, from, 0)
}
