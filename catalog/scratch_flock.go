//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package catalog

import (
	"io/fs"
	"os"
	"syscall"
)

// lockFile takes the lock without waiting. It falls with the process.
func lockFile(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
