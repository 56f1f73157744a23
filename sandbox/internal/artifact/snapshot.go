// Package artifact finds the files that a run made or changed in its
// workspace. What is there was made by untrusted programs: see
// [disk.Measure] for how it is looked at.
package artifact

import (
	"io/fs"
	"math"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
)

// Snapshot is what a workspace held at one moment, without its private
// directory.
type Snapshot struct {
	taken   time.Time
	entries map[string]fs.FileInfo // all but directories, by path
	usage   disk.Usage
}

// Usage returns what the workspace held, its private directory included.
func (s *Snapshot) Usage() disk.Usage { return s.usage }

// Take makes a snapshot of a workspace.
func Take(workspace string) (*Snapshot, error) { return takeOf(workspace, math.MaxInt) }

// takeOf makes one that leaves out what is left after more than so many files
// and directories.
func takeOf(workspace string, files int) (*Snapshot, error) {
	s := &Snapshot{taken: time.Now(), entries: make(map[string]fs.FileInfo)}
	most := disk.Unbounded
	most.Files = files
	var err error
	s.usage, err = disk.Measure(workspace, most, s.add)
	return s, err
}

func (s *Snapshot) add(path string, info fs.FileInfo) {
	if !info.IsDir() && !isPrivate(path) {
		s.entries[path] = info
	}
}

func isPrivate(name string) bool {
	return name == sandbox.PrivateDir || strings.HasPrefix(name, sandbox.PrivateDir+"/")
}
