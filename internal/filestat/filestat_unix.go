//go:build unix

package filestat

import (
	"io/fs"
	"os"
	"syscall"
)

// Space returns the disk space in bytes that a file has: a sparse one has less
// than its size. Where the system does not say, it is the size.
func Space(info fs.FileInfo) int64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Blocks * 512 // POSIX leaves the unit open; it is this everywhere
	}
	return info.Size()
}

// Links returns how many names a file has; 1 where the system does not say.
func Links(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Nlink)
	}
	return 1
}

func identify(info fs.FileInfo) (id ID, changed int64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return ID{uint64(stat.Dev), uint64(stat.Ino)}, changedAt(stat) // the types differ by system
	}
	return ID{}, 0
}

// Owner returns the user and the group to whom a file belongs, where the system
// has such.
func Owner(info fs.FileInfo) (user, group int, known bool) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid), int(stat.Gid), true
	}
	return 0, 0, false
}

// Ours reports whether a file belongs to the user of this process. Where the
// system does not say, it does.
func Ours(info fs.FileInfo) bool {
	user, _, known := Owner(info)
	return known && user == os.Geteuid()
}

// WritableByOthers reports whether a file's mode lets its group or everybody
// write to it. Where the system has no such modes, it does not.
func WritableByOthers(info fs.FileInfo) bool { return info.Mode().Perm()&0o022 != 0 }
