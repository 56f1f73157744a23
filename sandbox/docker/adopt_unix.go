//go:build unix

package docker

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// nobody runs the programs of a server that is root.
const nobody = 65534

// adopt gives the user, as "uid:gid", who runs programs in a workspace: its
// owner. That is never root: what root owns in the workspace is given to
// nobody first. Links are not followed, and what has other names outside the
// workspace stays as it is.
func adopt(workspace string) (user string, err error) {
	info, err := os.Stat(workspace)
	if err != nil {
		return "", err
	}
	owner := info.Sys().(*syscall.Stat_t)
	if owner.Uid != 0 && os.Geteuid() != 0 {
		return fmt.Sprintf("%d:%d", owner.Uid, owner.Gid), nil
	}
	if owner.Uid != 0 {
		return fmt.Sprintf("%d:%d", owner.Uid, owner.Gid), giveTree(workspace, int(owner.Uid), int(owner.Gid))
	}
	return fmt.Sprintf("%d:%d", nobody, nobody), giveTree(workspace, nobody, nobody)
}

// giveTree gives all that root owns in a directory to a user.
func giveTree(dir string, uid, gid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil { // gone meanwhile, or too deep
			return skip(entry)
		}
		info, err := entry.Info()
		if err != nil {
			return skip(entry)
		}
		stat := info.Sys().(*syscall.Stat_t)
		if stat.Uid != 0 || (!info.IsDir() && stat.Nlink > 1) {
			return nil
		}
		if err := root.Lchown(path.Clean(name), uid, gid); err != nil && !os.IsNotExist(err) {
			return err
		}
		return nil
	})
}

func skip(entry fs.DirEntry) error {
	if entry != nil && entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}
