//go:build unix

package audit

import (
	"io/fs"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// checkParent refuses a directory in which others could put something in the
// log's place.
func checkParent(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !filestat.Ours(info) && (!ok || stat.Uid != 0):
		return &placeError{path, "belongs to another user, who could take the audit log away; name another directory"}
	case filestat.WritableByOthers(info) && info.Mode()&fs.ModeSticky == 0:
		return &placeError{path, "can be written by other users, who could take the audit log away; take that away with chmod go-w, or name another directory"}
	}
	return nil
}
