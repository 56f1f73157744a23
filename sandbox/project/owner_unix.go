//go:build unix

package project

import (
	"io/fs"
	"os"
	"syscall"
)

// chownLike gives a file the owner of another, where this process may.
func chownLike(file *os.File, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 {
		return nil
	}
	return file.Chown(int(stat.Uid), int(stat.Gid))
}
