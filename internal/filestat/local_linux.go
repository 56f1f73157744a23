package filestat

import (
	"os"

	"golang.org/x/sys/unix"
)

const (
	zfsMagic      = 0x2fc12fc1
	bcachefsMagic = 0xca451a4e
)

// Local reports whether an open file or directory is on a file system that this
// machine's kernel alone changes and stamps, by its own clock: there a directory
// whose state is the same holds the same entries. It is false for those of other
// machines, and of programs.
func Local(file *os.File) bool {
	var st unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &st); err != nil {
		return false
	}
	switch st.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		zfsMagic, bcachefsMagic:
		return true
	}
	return false
}
