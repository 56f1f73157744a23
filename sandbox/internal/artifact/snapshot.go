// Package artifact finds the files that a run made or changed in its
// workspace. What is there was made by untrusted programs: see
// [disk.Measure] for how it is looked at.
package artifact

import (
	"cmp"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
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

// Since lists the regular files, sorted by path, that are new in s or differ
// from before in size, modification time or identity. It lists at most
// sandbox.MaxArtifacts and counts in omitted those beyond; new or changed
// links, hard links included, devices, FIFOs and sockets, whose content may
// be anything on the machine; and what s could not look at.
func (s *Snapshot) Since(before *Snapshot) (list []sandbox.Artifact, omitted int) {
	omitted = s.usage.Missed
	for name, info := range s.entries {
		if before.had(name, info) {
			continue
		}
		if !info.Mode().IsRegular() || filestat.Links(info) > 1 {
			omitted++
			continue
		}
		list = append(list, sandbox.Artifact{Path: name, Size: info.Size()})
	}
	slices.SortFunc(list, func(a, b sandbox.Artifact) int { return cmp.Compare(a.Path, b.Path) })
	if len(list) > sandbox.MaxArtifacts {
		omitted += len(list) - sandbox.MaxArtifacts
		list = list[:sandbox.MaxArtifacts]
	}
	return list, omitted
}

// had reports whether a file was there as it is described by info. Of a file
// past the bound of s its age must tell.
func (s *Snapshot) had(name string, info fs.FileInfo) bool {
	old, known := s.entries[name]
	if !known {
		return s.usage.Missed > 0 && info.ModTime().Before(s.taken)
	}
	return same(old, info)
}

func same(a, b fs.FileInfo) bool {
	return a.Mode().Type() == b.Mode().Type() && a.Size() == b.Size() &&
		a.ModTime().Equal(b.ModTime()) && filestat.Links(a) == filestat.Links(b) && os.SameFile(a, b)
}
