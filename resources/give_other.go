//go:build !unix

package resources

import (
	"io/fs"
	"os"
)

// giveTo has nothing to do where programs run as the server's user.
func giveTo(*os.Root, *os.File) error { return nil }

// isDiskFull is not told apart from other faults here.
func isDiskFull(error) bool { return false }

// space is the size of a file where the system does not tell what it takes.
func space(info fs.FileInfo) int64 { return info.Size() }
