package catalog

import (
	"context"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
)

const (
	// maxKnownFiles bounds of how many files and directories of skills it is
	// known what they were. The others are told as changed by every event.
	maxKnownFiles = 200_000
	// maxFirstRead bounds what is read, in bytes, when nothing is known yet.
	// What is not read then is told as changed when it is first written.
	maxFirstRead = 64 << 20
)

// files are the files and directories of skills as they were last looked at.
// What differs from them has changed.
type files struct {
	polled  bool // read no content before it changed: the file system is slow
	seed    maphash.Seed
	folders map[string]folder // by path
	count   int
	full    bool
	budget  int64 // bytes that this look may still read of what is not known

	buffer  []byte
	visited map[string]bool // directories, by this look
	changed []string        // by this look
}

func newFiles(polled bool) *files {
	return &files{polled: polled, seed: maphash.MakeSeed(), buffer: make([]byte, 32<<10), folders: map[string]folder{}}
}

// learn takes all files of skills as they are.
func (f *files) learn(ctx context.Context, s *Snapshot) {
	f.begin()
	if f.polled {
		f.budget = 0
	}
	for _, skill := range s.skills {
		f.folder(ctx, skill.Dir)
	}
}

func (f *files) begin() {
	f.visited, f.changed, f.budget = map[string]bool{}, nil, maxFirstRead
}

// update looks at what stands at the paths, or at everything, and returns the
// paths of files that came, went or have another content, and of directories
// that came or went.
//
// It is called after the scan that set the watches: what changes between the
// look and the event that tells of it is then seen by the next call.
func (f *files) update(ctx context.Context, change Change, paths []string, all bool) []string {
	f.begin()
	f.skills(ctx, change, all)
	for _, path := range insideSkills(paths, change.Before, change.After) {
		if _, known := f.folders[filepath.Dir(path)]; known {
			f.path(ctx, path)
		} else { // a skill's directory, which may be a link
			f.folder(ctx, path)
		}
	}
	changed := f.changed
	f.visited, f.changed = nil, nil
	return changed
}

// skills looks at skills that came, and at all of them if there is cause to.
func (f *files) skills(ctx context.Context, change Change, all bool) {
	now := map[string]bool{}
	for _, skill := range change.After.skills {
		now[skill.Dir] = true
		if _, known := f.folders[skill.Dir]; all || !known {
			f.folder(ctx, skill.Dir)
		}
		if all && f.full {
			f.changed = append(f.changed, skill.Dir)
		}
	}
	for _, skill := range change.Before.skills {
		if !now[skill.Dir] && len(insideSkills([]string{skill.Dir}, change.After)) == 0 {
			f.drop(skill.Dir)
		}
	}
}

// path looks at what stands at a path.
func (f *files) path(ctx context.Context, path string) {
	dir, name := filepath.Split(path)
	dir = filepath.Clean(dir)
	was, known := f.folders[dir].find(name)
	info, err := os.Lstat(path)
	if err != nil {
		if known {
			f.gone(path, was)
			f.forget(dir, name)
		}
		return
	}
	f.keep(dir, name, f.look(ctx, path, info, was, known, true))
}

// folder looks at all that is in a directory and below it. What cannot be
// read is as if it were not there.
func (f *files) folder(ctx context.Context, dir string) {
	if f.visited[dir] || ctx.Err() != nil {
		return
	}
	f.visited[dir] = true
	entries, err := list(dir)
	if err != nil {
		f.drop(dir)
		return
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() && ignored.Directory(name) || !e.IsDir() && ignored.Name(name) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		there[name] = true
		was, known := f.folders[dir].find(name)
		f.keep(dir, name, f.look(ctx, filepath.Join(dir, name), info, was, known, false))
	}
	for _, was := range slices.Clone(f.folders[dir]) {
		if !there[was.name] {
			f.gone(filepath.Join(dir, was.name), was.fingerprint)
			f.forget(dir, was.name)
		}
	}
	f.folders[dir] = slices.Clip(f.folders[dir]) // known, if empty
}

// look compares what stands at a path with what was known of it. written
// is true where an event told that it was written, maybe to the same effect.
func (f *files) look(ctx context.Context, path string, info fs.FileInfo, was fingerprint, known, written bool) fingerprint {
	now := f.fingerprint(path, info, was, known)
	switch {
	case !known || now.dir != was.dir:
		f.changed = append(f.changed, path)
		if was.dir {
			f.drop(path)
		}
	case now.dir:
	case now.State == was.State && was.settled:
	case now.compared && was.compared:
		if now.sum != was.sum {
			f.changed = append(f.changed, path)
		}
	case written || now.State != was.State:
		f.changed = append(f.changed, path)
	}
	if now.dir {
		f.folder(ctx, path)
	}
	return now
}

// keep notes what is known of an entry.
func (f *files) keep(dir, name string, now fingerprint) {
	if _, known := f.folders[dir].find(name); !known {
		if f.count >= maxKnownFiles {
			f.full = true
			return
		}
		f.count++
	}
	f.folders[dir] = f.folders[dir].with(name, now)
}

func (f *files) forget(dir, name string) {
	f.folders[dir] = f.folders[dir].without(name)
	f.count--
}

// gone tells that an entry went away, with all that is known to have been
// below it.
func (f *files) gone(path string, was fingerprint) {
	f.changed = append(f.changed, path)
	if was.dir {
		f.drop(path)
	}
}

// drop forgets a directory's entries.
func (f *files) drop(dir string) {
	for _, was := range f.folders[dir] {
		f.gone(filepath.Join(dir, was.name), was.fingerprint)
		f.count--
	}
	delete(f.folders, dir)
}
