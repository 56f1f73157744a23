//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

// Package dirlock keeps directories from being used by two processes at once.
package dirlock

import (
	"errors"
	"os"
	"syscall"
)

// Try takes the lock of a directory without waiting: the error is EWOULDBLOCK
// where somebody has it. It falls with the process. The file, which is the
// directory, is nil on systems without such locks.
func Try(dir string) (*os.File, error) {
	file, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Release gives a lock back at once, also what a process that is being started
// has of it.
func Release(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}
