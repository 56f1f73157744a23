// Package artifact finds the files that a run made or changed in its
// workspace. What is there was made by untrusted programs: nothing but
// directories is opened, nothing is followed, and the walk is bounded.
package artifact

import (
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

const (
	// maxEntries is how many directory entries a snapshot holds.
	maxEntries = 50_000
	// maxDepth is how many directories deep a snapshot goes.
	maxDepth = 64
	// readBatch is how many directory entries are read at once.
	readBatch = 1024
)

// Snapshot is what a workspace held at one moment, without its private
// directory.
type Snapshot struct {
	taken   time.Time
	entries map[string]fs.FileInfo // all but directories, by path
	// missed counts what could not be looked at: directories that are
	// unreadable or too deep, and at least one for all past the bound.
	missed int
}

// Take makes a snapshot of a workspace.
func Take(workspace string) (*Snapshot, error) { return take(workspace, maxEntries) }

func take(workspace string, limit int) (*Snapshot, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	s := &Snapshot{taken: time.Now(), entries: make(map[string]fs.FileInfo)}
	walk := walker{root: root, snapshot: s, left: limit}
	walk.dir(".", 0)
	return s, nil
}

type walker struct {
	root     *os.Root
	snapshot *Snapshot
	left     int // entries that may still be looked at
}

func (w *walker) dir(name string, depth int) {
	if depth > maxDepth {
		w.snapshot.missed++
		return
	}
	// Only what Lstat called a directory gets here, but another run in the
	// same workspace may have replaced it: O_NONBLOCK, lest it be a FIFO.
	dir, err := w.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		w.snapshot.missed++
		return
	}
	subdirs := w.read(dir, name)
	dir.Close() // before going deeper, so that depth costs no descriptors
	for _, sub := range subdirs {
		w.dir(sub, depth+1)
	}
}

// read takes the entries of one directory and gives its subdirectories.
func (w *walker) read(dir *os.File, name string) (subdirs []string) {
	for {
		entries, err := dir.ReadDir(readBatch)
		for _, entry := range entries {
			if w.left == 0 {
				w.snapshot.missed++
				return nil
			}
			w.left--
			if sub := w.entry(path.Join(name, entry.Name())); sub != "" {
				subdirs = append(subdirs, sub)
			}
		}
		if err != nil || len(entries) == 0 { // io.EOF, or nothing more to be had
			return subdirs
		}
	}
}

// entry takes one directory entry; it gives the name of a subdirectory.
func (w *walker) entry(name string) string {
	if name == sandbox.PrivateDir {
		return ""
	}
	info, err := w.root.Lstat(name)
	switch {
	case err != nil: // removed meanwhile
	case info.IsDir():
		return name
	default:
		w.snapshot.entries[name] = info
	}
	return ""
}
