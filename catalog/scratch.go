package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

const (
	// scratchPrefix names the private temporary directories of catalogs.
	scratchPrefix = "skills-mcp-catalog-"
	// scratchAge is how old a directory must be before it can count as left
	// behind: its owner locks it just after it made it.
	scratchAge = time.Minute
)

// scratch is a private temporary directory. It is locked, so that the next
// start can tell a directory in use from one that a killed process left
// behind; systemd-tmpfiles respects the lock too.
type scratch struct {
	dir  string
	lock *os.File
}

// newScratch makes a directory that nobody else may enter, and removes those
// that were left behind.
func newScratch() (*scratch, error) {
	reapScratch(os.TempDir())
	dir, err := os.MkdirTemp("", scratchPrefix)
	if err != nil {
		return nil, err
	}
	lock, err := os.Open(dir)
	if err == nil {
		err = lockFile(lock)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &scratch{dir, lock}, nil
}

func (s *scratch) close() error {
	return errors.Join(s.lock.Close(), os.RemoveAll(s.dir))
}

// reapScratch removes directories whose owner is gone. What cannot be
// removed, or is another user's, is left alone.
func reapScratch(temp string) {
	dirs, err := filepath.Glob(filepath.Join(temp, scratchPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() || !ownedByUs(info) || time.Since(info.ModTime()) < scratchAge {
			continue
		}
		lock, err := os.OpenFile(dir, os.O_RDONLY|openNonblock, 0)
		if err != nil {
			continue
		}
		if lockFile(lock) == nil {
			_ = os.RemoveAll(dir)
		}
		lock.Close()
	}
}
