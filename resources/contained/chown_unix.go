//go:build unix

package contained

import (
	"errors"
	"os"
	"syscall"
)

// chownLike makes the owner of a directory that of an open file, where the
// server is root: programs run as that user, or see as theirs what is the
// user's.
func chownLike(dir *os.Root, file *os.File) error {
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
