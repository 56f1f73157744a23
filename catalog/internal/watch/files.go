package watch

import (
	"context"
	"hash/maphash"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	skills map[string]bool   // the directories of the skills there are
	known  map[string][]file // by the outermost skill that they are in; sorted by path
	count  int               // of all that are known

	// Of the look that goes on.
	budget  int64  // bytes that may still be read of what is not known
	before  []file // what was known of the skill
	now     []file // what is known of it by now
	changed []string
	full    bool // something of the skill is not known for want of room
}

// file is a file or directory of a skill.
type file struct {
	path string
	fingerprint
}

func byPath(f file, path string) int { return strings.Compare(f.path, path) }

// NewFiles returns files of which none is known. Directories are listed by
// list, which does not block.
func NewFiles(polled bool, list func(dir string) ([]fs.DirEntry, error)) *Files {
	return &Files{
		polled: polled, list: list, seed: maphash.MakeSeed(), buffer: make([]byte, 32<<10),
		skills: map[string]bool{}, known: map[string][]file{},
	}
}

// Learn takes all files of the skills in these directories as they are.
func (f *Files) Learn(ctx context.Context, skills []string) {
	f.budget = maxFirstRead
	if f.polled {
		f.budget = 0
	}
	f.regroup(skills, nil)
	f.look(ctx, skills)
}

// Update looks at the skills that one of the directories is in, at those that
// came, or at all of them. It returns the paths of files that came, went or
// have another content, and of directories that came or went. The directories
// of skills that came and went are those since the last call.
//
// It is called after the scan that set the watches: what changes between the
// look and its event is then seen by the next call.
func (f *Files) Update(ctx context.Context, came, went, dirs []string, all bool) []string {
	f.budget, f.changed = maxFirstRead, nil
	f.regroup(came, went)
	suspect := slices.Concat(dirs, came)
	if all {
		suspect = slices.Collect(maps.Keys(f.skills))
	}
	f.look(ctx, suspect)
	return f.changed
}

// regroup keeps what is known of files with the outermost skill that they are in
// by now. Those that are in none any more went.
func (f *Files) regroup(came, went []string) {
	if len(came) == 0 && len(went) == 0 {
		return
	}
	for _, dir := range went {
		delete(f.skills, dir)
	}
	for _, dir := range came {
		f.skills[dir] = true
	}
	for skill, files := range f.known {
		if f.skills[skill] && outermost(skill, f.skills) == skill {
			continue
		}
		delete(f.known, skill)
		for _, file := range files {
			if home := outermost(file.path, f.skills); home != "" {
				f.known[home] = append(f.known[home], file)
			} else {
				f.count--
				f.changed = append(f.changed, file.path)
			}
		}
	}
}

// look looks at the skills that suspect directories are in.
func (f *Files) look(ctx context.Context, suspect []string) {
	looked := map[string]bool{}
	for _, dir := range suspect {
		skill := outermost(dir, f.skills)
		if skill == "" || looked[skill] || ctx.Err() != nil {
			continue
		}
		looked[skill] = true
		f.skill(ctx, skill)
	}
}

// skill looks at one skill.
func (f *Files) skill(ctx context.Context, dir string) {
	f.before, f.now, f.full = f.known[dir], nil, false
	sortByPath(f.before) // as more than one skill's may not be
	f.directory(ctx, dir)
	if ctx.Err() != nil {
		return
	}
	sortByPath(f.now)
	for _, was := range f.before {
		if _, there := slices.BinarySearchFunc(f.now, was.path, byPath); !there {
			f.count--
			f.changed = append(f.changed, was.path)
		}
	}
	if f.full {
		f.changed = append(f.changed, dir)
	}
	f.known[dir] = slices.Clip(f.now)
}

func sortByPath(files []file) {
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.path, b.path) })
}

// outermost returns the outermost of these directories that a path is or lies
// in, or nothing.
func outermost(path string, dirs map[string]bool) (found string) {
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
	var was fingerprint
	at, known := slices.BinarySearchFunc(f.before, path, byPath)
	switch {
	case known:
		was = f.before[at].fingerprint
	case f.count >= maxKnownFiles:
		f.full = true
		return
	default:
		f.count++
	}
	now := f.fingerprint(path, info, was, known)
	f.now = append(f.now, file{path, now})
	if !known || now.differs(was) {
		f.changed = append(f.changed, path)
	}
}
