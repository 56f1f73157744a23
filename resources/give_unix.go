//go:build unix

package resources

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives an open file to the owner of a directory, where the server is
// root: programs run as that user, or see as theirs what is the user's.
func giveTo(dir *os.Root, file *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := dir.Stat(".")
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return file.Chown(int(owner.Uid), int(owner.Gid))
}

func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// space is the disk space that a file has, which of a sparse one is less than
// its size. The unit of st_blocks is 512 bytes everywhere.
func space(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}
