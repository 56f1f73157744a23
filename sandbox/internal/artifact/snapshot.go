// Package artifact finds the files that a run made or changed in its
// workspace. What is there was made by untrusted programs: nothing but
// directories is opened, nothing is followed, and the walk is bounded.
package artifact

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

const (
	// maxEntries is how many directory entries a snapshot holds.
	maxEntries = 100_000
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
	usage   Usage
	// missed counts what could not be looked at: directories that are
	// unreadable or too deep, and at least one for all past the bound.
	missed int
}

// Usage is what a workspace takes, its private directory included.
type Usage struct {
	// Bytes is the disk space that files and directories have, where the
	// system tells; else the sum of the files' sizes.
	Bytes int64
	// Files counts files and directories, links and all else.
	Files int
}

// Usage tells what the workspace took. What could not be looked at is not in
// it, but for the first that lay past the bound.
func (s *Snapshot) Usage() Usage { return s.usage }

// Missed counts directories that could not be looked into, unreadable or too
// deep, and one for all that lay past the bound of the walk.
func (s *Snapshot) Missed() int { return s.missed }

// Take makes a snapshot of a workspace.
func Take(workspace string) (*Snapshot, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return takeIn(root, maxEntries), nil
}

func takeIn(root *os.Root, limit int) *Snapshot {
	s := &Snapshot{taken: time.Now(), entries: make(map[string]fs.FileInfo)}
	walk := walker{root: root, snapshot: s, left: limit}
	walk.dir(".", 0)
	return s
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
		if !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			w.snapshot.missed++
		}
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
	info, err := w.root.Lstat(name)
	if err != nil { // removed meanwhile
		return ""
	}
	w.snapshot.usage.Bytes += filestat.Space(info)
	w.snapshot.usage.Files++
	switch {
	case info.IsDir():
		return name
	case !isPrivate(name):
		w.snapshot.entries[name] = info
	}
	return ""
}

func isPrivate(name string) bool {
	return name == sandbox.PrivateDir || strings.HasPrefix(name, sandbox.PrivateDir+"/")
}
