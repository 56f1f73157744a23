package resources

import (
	"io/fs"
	"syscall"
)

// identify tells files, and states of one file, apart.
func identify(info fs.FileInfo) (inode, stamp, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode{}, stamp{}, false
	}
	return inode{device: uint64(stat.Dev), number: uint64(stat.Ino)},
		stamp{size: stat.Size, modified: stat.Mtim.Nano(), changed: stat.Ctim.Nano()}, true
}
