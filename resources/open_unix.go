//go:build unix

package resources

import (
	"io/fs"
	"syscall"
)

// openFlags keep an open from waiting for the other end of a FIFO and from
// making a terminal the server's own. os.Root adds O_NOFOLLOW and O_CLOEXEC.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// openDirectory makes the open fail on all else.
const openDirectory = syscall.O_DIRECTORY

// links is the number of hard links of a file.
func links(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}
