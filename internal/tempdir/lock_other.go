//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package tempdir

import (
	"io/fs"
	"os"
)

// lock returns nothing, and nothing is reaped.
func lock(string) (*os.File, error) { return nil, nil }

// ownedByUs leaves every directory alone.
func ownedByUs(fs.FileInfo) bool { return false }
