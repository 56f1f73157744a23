//go:build unix

package docker

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/chown"
)

// nobody runs the programs of a server that is root.
const nobody = 65534

// userOf returns the user, as "uid:gid", who runs programs in a workspace: its
// owner. That is never root: what root owns in the workspace is given to
// nobody first, and what it owns in the private directory to the same user.
// Links are not followed, and what has other names outside stays as it is.
func userOf(workspace, private string) (user string, err error) {
	info, err := os.Stat(workspace)
	if err != nil {
		return "", err
	}
	owner := info.Sys().(*syscall.Stat_t)
	uid, gid := int(owner.Uid), int(owner.Gid)
	if uid == 0 {
		uid, gid = nobody, nobody
	}
	if owner.Uid == 0 || os.Geteuid() == 0 {
		err = errors.Join(chown.Tree(workspace, uid, gid), chown.Tree(private, uid, gid))
	}
	return fmt.Sprintf("%d:%d", uid, gid), err
}
