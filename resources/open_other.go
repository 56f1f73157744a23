//go:build !unix

package resources

import "io/fs"

// openFlags are none where files are the only things that can be opened.
const openFlags = 0

// openDirectory is not asked for: reading the names of a file fails.
const openDirectory = 0

// links is not known without another system call on an open file.
func links(fs.FileInfo) uint64 { return 1 }
