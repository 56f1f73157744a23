//go:build unix

package audit

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether a file belongs to the user of this process.
func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// checkParent refuses a directory in which others could put something in the
// log's place.
func checkParent(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(stat.Uid) != os.Geteuid() && stat.Uid != 0:
		return &placeError{path, "belongs to another user, who could take the audit log away; name another directory"}
	case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return &placeError{path, "can be written by other users, who could take the audit log away; take that away with chmod go-w, or name another directory"}
	}
	return nil
}
