package disk

import (
	"io/fs"
	"os"
)

// RestoreMode lets the owner of a directory use it again where a program took
// that away from all, and reports whether it did.
func RestoreMode(dir string) (restored bool, err error) { return restore(dir, 0o700) }

// RestoreReading is [RestoreMode] for a directory that the owner need not be able
// to write.
func RestoreReading(dir string) (restored bool, err error) { return restore(dir, 0o500) }

func restore(dir string, mode fs.FileMode) (restored bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode()&mode == mode {
		return false, err
	}
	return true, os.Chmod(dir, info.Mode().Perm()|mode)
}
