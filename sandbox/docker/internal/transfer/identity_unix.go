//go:build unix

package transfer

import (
	"io/fs"
	"syscall"
)

// identified reports whether files have identities.
const identified = true

// identity distinguishes the files of one directory, whatever their names.
type identity struct{ device, inode uint64 }

func identify(info fs.FileInfo) identity {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	return identity{uint64(stat.Dev), stat.Ino} // the type differs by system
}

// nonblock keeps opening a FIFO from hanging, and nofollow a link from being
// followed.
const (
	nonblock = syscall.O_NONBLOCK
	nofollow = syscall.O_NOFOLLOW
)
