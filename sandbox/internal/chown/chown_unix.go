//go:build unix

// Package chown makes the user who runs programs in a workspace the owner of
// what a server that is root has there.
package chown

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
)

// Tree changes the owner of a directory and of all in it that is root's, as far
// as [disk.Measure] looks. Programs may change what is in it meanwhile: links
// are not followed, and what has other names, which may be outside, stays as it
// is.
func Tree(dir string, uid, gid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	top, err := root.Stat(".")
	if err != nil {
		return err
	}
	var failed error // the first time
	change := func(name string, info fs.FileInfo) {
		stat := info.Sys().(*syscall.Stat_t)
		if stat.Uid != 0 || (!info.IsDir() && stat.Nlink > 1) || failed != nil {
			return
		}
		if err := root.Lchown(name, uid, gid); !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	change(".", top)
	_, err = disk.Measure(dir, disk.Unbounded, change)
	return errors.Join(failed, err)
}
