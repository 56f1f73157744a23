//go:build unix

package project

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether a file is this user's.
func ownedByUs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
