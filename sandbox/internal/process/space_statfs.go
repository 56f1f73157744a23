//go:build linux || darwin

package process

import "golang.org/x/sys/unix"

// diskSpace returns the bytes that are free to ordinary users on a directory's
// file system, and all that it has.
func diskSpace(dir string) (free, all int64, known bool) {
	var fs unix.Statfs_t
	if unix.Statfs(dir, &fs) != nil {
		return 0, 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), int64(fs.Blocks) * int64(fs.Bsize), true
}
