package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// checkLayers checks that the layers of a share are directories, and the paths
// as they are written: what a link leads to is not what was chosen.
func checkLayers(share sandbox.Share) error {
	for _, dir := range share.Layers {
		info, err := os.Lstat(dir)
		if err != nil {
			return err
		}
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return err
		}
		if !info.IsDir() || real != dir {
			return &os.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
		}
	}
	return nil
}

// prepareChanges makes the directories in which changes are kept. The upper one
// stands for the share's own: it has its mode, times and, where the server is
// root, owner.
func prepareChanges(share sandbox.Share) error {
	var like syscall.Stat_t
	if err := syscall.Lstat(share.Layers[len(share.Layers)-1], &like); err != nil {
		return err
	}
	for _, name := range []string{sandbox.WorkDir, sandbox.UpperDir} {
		dir := filepath.Join(share.Changes, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			if !errors.Is(err, fs.ErrExist) {
				return err
			}
			continue
		}
		if os.Geteuid() == 0 {
			if err := os.Lchown(dir, int(like.Uid), int(like.Gid)); err != nil {
				return err
			}
		}
		if name == sandbox.WorkDir {
			continue
		}
		times := []syscall.Timespec{like.Atim, like.Mtim}
		if err := errors.Join(os.Chmod(dir, fs.FileMode(like.Mode&0o777)), syscall.UtimesNano(dir, times)); err != nil {
			return err
		}
	}
	return nil
}
