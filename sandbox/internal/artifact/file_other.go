//go:build !unix

package artifact

import "io/fs"

const nonblock = 0

// space is the size where the system does not tell more.
func space(info fs.FileInfo) int64 { return info.Size() }

// links is not known here: os.FileInfo does not tell it.
func links(fs.FileInfo) uint64 { return 1 }
