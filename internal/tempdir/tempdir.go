// Package tempdir makes private temporary directories that do not stay behind:
// not after Close, and not for long after their process was killed, because
// the next one to make such a directory removes it.
package tempdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/dirlock"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

const (
	// unlockedPrefix begins the name that a directory has until it is locked.
	unlockedPrefix = ".new-"
	// unlockedAge is how old a directory of such a name must be before its
	// owner counts as gone: locking takes microseconds.
	unlockedAge = time.Minute
)

// Dir is a private directory. It is locked while its process lives, so that
// others can tell it from what a killed process left; systemd-tmpfiles
// respects the lock too. The lock goes with the Dir, so it must not become
// garbage. Systems without flock remove nothing of others.
type Dir struct {
	path    string
	lock    *os.File // nil where there are no locks
	reaping sync.WaitGroup
}

// New makes a directory with mode 0700 below base, or below the system's
// directory for temporary files where base is empty. Its name is prefix and
// something random. Directories of that prefix that this user's killed
// processes left are removed in the background.
func New(base, prefix string) (*Dir, error) {
	if base == "" {
		base = os.TempDir()
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	base, err := filepath.Abs(base)
	if err == nil {
		base, err = filepath.EvalSymlinks(base) // programs see the path that getcwd gives
	}
	if err != nil {
		return nil, err
	}
	d := new(Dir)
	if err := d.make(base, prefix); err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	d.reaping.Go(func() { Reap(base, prefix) })
	return d, nil
}

// make gives the directory its name only once it is locked: a name that
// others look at never belongs to an unlocked directory of a living process.
func (d *Dir) make(base, prefix string) error {
	unlocked, err := os.MkdirTemp(base, unlockedPrefix+prefix)
	if err != nil {
		return err
	}
	d.lock, err = dirlock.Try(unlocked)
	if err == nil {
		d.path = filepath.Join(base, prefix+filepath.Base(unlocked)[len(unlockedPrefix+prefix):])
		err = os.Rename(unlocked, d.path)
	}
	if err != nil {
		return errors.Join(err, d.unlock(), os.Remove(unlocked))
	}
	return nil
}

// Path is absolute and free of links.
func (d *Dir) Path() string { return d.path }

// Close removes the directory with all that is in it, however hostile; see
// [Remove]. Called again it removes what could not be removed before.
func (d *Dir) Close() error {
	d.reaping.Wait()
	return errors.Join(Remove(d.path), d.unlock())
}

func (d *Dir) unlock() error {
	if d.lock == nil {
		return nil
	}
	if err := d.lock.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Reap removes the directories of a prefix below base, as [New] has them, whose
// process is gone. What cannot be removed, or is another user's, is left alone.
func Reap(base, prefix string) {
	entries, _ := os.ReadDir(base) // what could be read of it
	for _, entry := range entries {
		name, unlocked := strings.CutPrefix(entry.Name(), unlockedPrefix)
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		info, err := entry.Info()
		if err != nil || !info.IsDir() || !filestat.Ours(info) || unlocked && time.Since(info.ModTime()) < unlockedAge {
			continue
		}
		dir := filepath.Join(base, entry.Name())
		if held, err := dirlock.Try(dir); err == nil && held != nil {
			_ = Remove(dir)
			held.Close()
		}
	}
}
