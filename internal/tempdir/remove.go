package tempdir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// Remove removes a directory with all that untrusted programs left in it:
// directories without permissions, and trees so deep that they have no path
// and that descending them would cost too many descriptors. Links are removed,
// never followed. Nothing may write to the tree meanwhile.
func Remove(dir string) error {
	if os.RemoveAll(dir) == nil { // does for nearly all
		return nil
	}
	return RemoveFlat(dir)
}

// RemoveFlat is [Remove] for who has little memory: it has few directories open
// at once, however deep they are.
func RemoveFlat(dir string) error {
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(dir)
	if err := root.Chmod(name, 0o700); err != nil {
		return err
	}
	top, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	err = flatten(top)
	return errors.Join(err, top.Close(), root.Remove(name))
}

// flatten empties a directory in constant depth: the directories found one
// level down are moved to the top before their parent is removed.
func flatten(top *os.Root) error {
	moved := 0
	for {
		entries, err := list(top, ".")
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, entry := range entries {
			if err := empty(top, entry, &moved); err != nil {
				return err
			}
			if err := top.Remove(entry.Name()); err != nil {
				return err
			}
		}
	}
}

// empty makes a directory at the top empty.
func empty(top *os.Root, dir fs.DirEntry, moved *int) error {
	if !dir.IsDir() {
		return nil
	}
	if err := top.Chmod(dir.Name(), 0o700); err != nil {
		return err
	}
	for {
		entries, err := list(top, dir.Name())
		if err != nil || len(entries) == 0 {
			return err
		}
		for _, entry := range entries {
			name := filepath.Join(dir.Name(), entry.Name())
			if !entry.IsDir() {
				err = top.Remove(name)
			} else if err = top.Chmod(name, 0o700); err == nil { // to change its ".."
				err = rename(top, name, moved)
			}
			if err != nil {
				return err
			}
		}
	}
}

// rename moves a directory to the top under a name that is free there.
func rename(top *os.Root, name string, moved *int) error {
	for {
		*moved++
		free := "removed-" + strconv.Itoa(*moved)
		if _, err := top.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			return top.Rename(name, free)
		} else if err != nil {
			return err
		}
	}
}

// list returns some entries of a directory; none means that it is empty.
func list(top *os.Root, name string) ([]fs.DirEntry, error) {
	dir, err := top.Open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(1024)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}
