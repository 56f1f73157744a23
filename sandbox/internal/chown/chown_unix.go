//go:build unix

// Package chown makes the user who runs programs in a workspace the owner of
// what a server that is root has there.
package chown

import (
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Tree changes the owner of a directory and of all in it that is root's.
// Programs may change what is in it meanwhile: links are not followed, and what
// has other names, which may be outside, stays as it is.
func Tree(dir string, uid, gid int) error {
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
