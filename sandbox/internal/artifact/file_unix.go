//go:build unix

package artifact

import (
	"io/fs"
	"syscall"
)

const nonblock = syscall.O_NONBLOCK

// space is the disk space that a file has: a sparse one has less than its
// size. POSIX leaves the unit of st_blocks open; it is 512 bytes everywhere.
func space(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512
	}
	return info.Size()
}

// links is how many names a file has.
func links(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}
