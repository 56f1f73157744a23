//go:build unix

package contained

import (
	"errors"
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
