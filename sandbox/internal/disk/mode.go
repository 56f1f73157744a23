package disk

import "os"

// RestoreMode lets the owner of a directory use it again where a program took
// that away from all, and reports whether it did.
func RestoreMode(dir string) (restored bool, err error) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode()&0o700 == 0o700 {
		return false, err
	}
	return true, os.Chmod(dir, info.Mode().Perm()|0o700)
}
