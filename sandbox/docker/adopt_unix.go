//go:build unix

package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"
)

// nobody runs the programs of a server that is root.
const nobody = 65534

// adopt returns the user, as "uid:gid", who runs programs in a workspace: its
// owner. That is never root: what root owns in the workspace is given to
// nobody first, and what it owns in the private directory to the same user.
// Links are not followed, and what has other names outside stays as it is.
func adopt(workspace, private string) (user string, err error) {
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
		err = errors.Join(giveTree(workspace, uid, gid), giveTree(private, uid, gid))
	}
	return fmt.Sprintf("%d:%d", uid, gid), err
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
