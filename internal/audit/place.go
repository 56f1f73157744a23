package audit

import (
	"io/fs"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// checkParent refuses a directory in which others could put something in the
// log's place. Where modes do not show that, the system keeps others out of the
// user's directories by lists.
func checkParent(path string, info fs.FileInfo) error {
	user, _, known := filestat.Owner(info)
	switch {
	case !filestat.Ours(info) && (!known || user != 0):
		return &placeError{path, "belongs to another user, who could take the audit log away; name another directory"}
	case filestat.WritableByOthers(info) && info.Mode()&fs.ModeSticky == 0:
		return &placeError{path, "can be written by other users, who could take the audit log away; take that away with chmod go-w, or name another directory"}
	}
	return nil
}
