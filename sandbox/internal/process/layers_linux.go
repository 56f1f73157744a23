package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
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

// prepareChanges makes the directories in which changes are kept. They belong to
// the owner of the share, where the server is root, and the upper one has the
// mode and the times of the share's own, which it stands for. What an overlay has
// left in the working directory is of no use to the next one, which may even
// refuse to be mounted: it is moved away, for [removeUsed].
func prepareChanges(share sandbox.Share) error {
	var like syscall.Stat_t
	if err := syscall.Lstat(share.Layers[len(share.Layers)-1], &like); err != nil {
		return err
	}
	upper, work := filepath.Join(share.Changes, sandbox.UpperDir), filepath.Join(share.Changes, sandbox.WorkDir)
	if err := setAside(work); err != nil {
		return err
	}
	made := false
	for _, dir := range []string{share.Changes, work, upper} {
		err := os.Mkdir(dir, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		made = err == nil
		if err := giveTo(dir, &like); err != nil {
			return err
		}
	}
	if !made {
		return nil
	}
	times := []syscall.Timespec{like.Atim, like.Mtim}
	return errors.Join(os.Chmod(upper, fs.FileMode(like.Mode&0o777)), syscall.UtimesNano(upper, times))
}

// setAside moves a directory away from where it is.
func setAside(work string) error {
	used := filepath.Join(filepath.Dir(work), usedDir)
	err := os.Rename(work, used)
	if errors.Is(err, fs.ErrExist) { // a server that died has left it
		if err = tempdir.Remove(used); err == nil {
			err = os.Rename(work, used)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// giveTo makes the owner of something else that of a directory, where the server
// can.
func giveTo(dir string, like *syscall.Stat_t) error {
	var stat syscall.Stat_t
	if err := syscall.Lstat(dir, &stat); err != nil {
		return err
	}
	if stat.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return &os.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	if os.Geteuid() != 0 || stat.Uid == like.Uid && stat.Gid == like.Gid {
		return nil
	}
	return os.Lchown(dir, int(like.Uid), int(like.Gid))
}
