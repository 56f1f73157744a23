package watch

import (
	"context"
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
)

const (
	// maxKnownFiles bounds of how many files and directories of skills it is
	// known what they were. Skills with others are reported by every event.
	maxKnownFiles = 200_000
	// maxFirstRead bounds what is read, in bytes, when nothing is known yet.
	// What is not read then is reported when it is first written.
	maxFirstRead = 64 << 20
)

// Files are the files and directories of skills as they were last looked at.
// What differs from them has changed.
type Files struct {
	polled bool // read no content before it changed: the file system is slow
	list   func(dir string) ([]fs.DirEntry, error)
	seed   maphash.Seed
	buffer []byte
	known  map[string]fingerprint // by path
	skills map[string]bool        // the directories that known is of

	// Of the look that goes on.
	turn    uint32
	budget  int64 // bytes that may still be read of what is not known
	changed []string
	full    bool // something is not known for want of room
}

// NewFiles returns files of which none is known. Directories are listed by
// list, which does not block.
func NewFiles(polled bool, list func(dir string) ([]fs.DirEntry, error)) *Files {
	return &Files{polled: polled, list: list, seed: maphash.MakeSeed(), buffer: make([]byte, 32<<10), known: map[string]fingerprint{}}
}

// Learn takes all files of the skills in these directories as they are.
func (f *Files) Learn(ctx context.Context, skills map[string]bool) {
	f.budget = maxFirstRead
	if f.polled {
		f.budget = 0
	}
	f.look(ctx, skills, skills)
}

// Update looks at the skills that one of the directories is in, at those that
// came, or at all of them. It returns the paths of files that came, went or
// have another content, and of directories that came or went.
//
// It is called after the scan that set the watches: what changes between the
// look and its event is then seen by the next call.
func (f *Files) Update(ctx context.Context, skills map[string]bool, dirs []string, all bool) []string {
	suspect := map[string]bool{}
	for _, dir := range dirs {
		suspect[dir] = true
	}
	for dir := range skills {
		if all || !f.skills[dir] {
			suspect[dir] = true
		}
	}
	f.budget = maxFirstRead
	return f.look(ctx, skills, suspect)
}

// look looks at the skills that suspect directories are in, and forgets what
// is in none any more.
func (f *Files) look(ctx context.Context, skills, suspect map[string]bool) []string {
	f.turn++
	f.changed, f.full = nil, false
	looked := map[string]bool{}
	for dir := range suspect {
		skill := Outermost(dir, skills)
		if skill == "" || looked[skill] {
			continue
		}
		looked[skill] = true
		f.directory(ctx, skill)
		if f.full {
			f.changed = append(f.changed, skill)
		}
	}
	if ctx.Err() != nil || len(looked) == 0 && maps.Equal(f.skills, skills) {
		return nil
	}
	f.skills = skills
	for path, was := range f.known {
		if was.turn == f.turn {
			continue
		}
		if skill := Outermost(path, skills); skill == "" || looked[skill] {
			delete(f.known, path)
			f.changed = append(f.changed, path)
		}
	}
	return f.changed
}

// Outermost returns the outermost of these directories that a path is or lies
// in, or nothing.
func Outermost(path string, dirs map[string]bool) (found string) {
	for dir := path; ; dir = filepath.Dir(dir) {
		if dirs[dir] {
			found = dir
		}
		if filepath.Dir(dir) == dir {
			return found
		}
	}
}

// directory looks at all that is in a directory and below it. What cannot be
// read is as if it were not there.
func (f *Files) directory(ctx context.Context, dir string) {
	entries, err := f.list(dir)
	if err != nil || ctx.Err() != nil {
		return
	}
	for _, e := range entries {
		if name := e.Name(); ignored.Name(name) || e.IsDir() && ignored.Directory(name) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, err := e.Info(); err == nil {
			f.entry(path, info)
			if info.IsDir() {
				f.directory(ctx, path)
			}
		}
	}
}

// entry compares what stands at a path with what was known of it.
func (f *Files) entry(path string, info os.FileInfo) {
	was, known := f.known[path]
	if !known && len(f.known) >= maxKnownFiles {
		f.full = true
		return
	}
	now := f.fingerprint(path, info, was, known)
	now.turn = f.turn
	f.known[path] = now
	if !known || now.differs(was) {
		f.changed = append(f.changed, path)
	}
}
