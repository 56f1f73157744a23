//go:build linux || darwin

package filestat

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Sparse reports whether holes of files take no disk space.
const Sparse = true

// NextData returns the next part of a file that is no hole, at or behind an
// offset; both are size where there is none.
func NextData(f *os.File, offset, size int64) (from, to int64) {
	from, err := f.Seek(offset, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return size, size
	}
	if err != nil { // the file system knows no holes
		return offset, size
	}
	to, err = f.Seek(from, unix.SEEK_HOLE)
	if err != nil || to <= from {
		return min(from, size), size
	}
	return min(from, size), min(to, size)
}
