package catalog

import (
	"io/fs"
	"syscall"
)

// fileStatus is what the operating system tells of a file beside its size
// and modification time.
type fileStatus struct {
	device, inode uint64
	changed       int64 // status change time, nanoseconds since 1970
}

func statusOf(info fs.FileInfo) fileStatus {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fileStatus{}
	}
	return fileStatus{uint64(stat.Dev), stat.Ino, stat.Ctimespec.Nano()}
}
