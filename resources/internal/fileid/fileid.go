// Package fileid tells files apart, and the states of one file, without reading
// them.
package fileid

import (
	"io/fs"
	"time"
)

// Settled is how old the last change of a file must be for equal stamps to
// prove an equal content. Within the grain of the clock by which a file system
// stamps, a file can change twice and look the same; 2 s is the coarsest in use
// (FAT).
const Settled = 2 * time.Second

// ID says which file it is, Stamp whether it is as it was. The times are those
// of the last write and of the last change of status, in nanoseconds.
type (
	ID    struct{ Device, Inode uint64 }
	Stamp struct{ Size, Modified, Changed int64 }
)

// Same reports whether a file is as it was, as far as the system tells.
func Same(before, after fs.FileInfo) bool {
	_, a, ok := Of(before)
	_, b, _ := Of(after)
	if ok {
		return a == b
	}
	return before.Size() == after.Size() && before.ModTime().Equal(after.ModTime())
}
