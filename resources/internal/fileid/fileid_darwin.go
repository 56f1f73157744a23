package fileid

import (
	"io/fs"
	"syscall"
)

// Of tells files, and states of one file, apart.
func Of(info fs.FileInfo) (ID, Stamp, bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ID{}, Stamp{}, false
	}
	return ID{Device: uint64(stat.Dev), Inode: uint64(stat.Ino)},
		Stamp{Size: stat.Size, Modified: stat.Mtimespec.Nano(), Changed: stat.Ctimespec.Nano()}, true
}
