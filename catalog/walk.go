package catalog

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog/internal/archive"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/ignored"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// bounds keep a scan of the wrong directory from lasting for ever.
type bounds struct {
	depth   int // levels below a root
	dirs    int // directories, in all roots together
	entries int // entries of one directory
	skills  int // skills, in all roots together
}

// scanBounds are variables of the package for the tests alone.
var scanBounds = bounds{depth: 8, dirs: 100_000, entries: 100_000, skills: 20_000}

// errBound ends a walk at a bound; the problem has been reported.
var errBound = errors.New("scan bound reached")

// location is a directory on a walk.
type location struct {
	path  string // as the walk came to it
	real  string // without symbolic links
	shown string // in problems: in archives the archive's path and the path in it
	root  int
	depth int
	// inSkill is true where it is a skill's directory or lies in one.
	inSkill bool
	// archive is the path of the archive that it comes from, if any.
	archive string
}

func (p location) child(name string) location {
	p.path = filepath.Join(p.path, name)
	p.real = filepath.Join(p.real, name)
	p.shown = filepath.Join(p.shown, name)
	p.depth++
	return p
}

// walker finds the candidates of all roots.
type walker struct {
	ctx      context.Context
	log      *slog.Logger
	roots    []Root
	strict   bool
	archives *archive.Archives
	withheld func(dir string) func(path string) bool // nil for nothing
	// watch is called for each directory before it is listed, so that no
	// change is lost in between, and for what leads to a root. It may be nil.
	watch func(path, real string)

	dirs     int
	seen     map[string]bool // real paths
	deep     map[int]bool    // roots in which the depth was reported
	found    []*candidate
	problems []Problem
}

// walk goes through all roots.
func (w *walker) walk() error {
	for i := range w.roots {
		err := w.walkRoot(i)
		switch {
		case errors.Is(err, errBound):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

func (w *walker) walkRoot(i int) error {
	root := w.roots[i]
	if slices.ContainsFunc(w.roots[:i], func(r Root) bool { return r.Path == root.Path }) {
		w.report(root.Path, "root-duplicate", "the root was named before")
		return nil
	}
	w.watchAbove(root.Path)
	real, err := filepath.EvalSymlinks(root.Path)
	if err != nil {
		w.reportRoot(root, err)
		return nil
	}
	info, err := os.Stat(real)
	top := location{path: root.Path, real: real, shown: root.Path, root: i}
	switch {
	case err != nil:
		w.reportRoot(root, err)
	case info.IsDir():
		return w.directory(top)
	case info.Mode().IsRegular() && archive.Is(root.Path):
		return w.archive(top)
	default:
		w.report(root.Path, "root-type", "the root is neither a directory nor an archive")
	}
	return nil
}

func (w *walker) reportRoot(root Root, err error) {
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		w.report(root.Path, "root-unreadable", "the root cannot be read: %v", problem.Cause(err))
	case !root.Optional:
		w.report(root.Path, "root-missing", "the root does not exist")
	}
}

// directory looks for a skill in p, and then below it.
func (w *walker) directory(p location) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.seen[p.real] {
		// The same directory by another way is the same skill: installers
		// link one skill into the directories of several hosts.
		w.log.Debug("directory already scanned", "path", p.path, "real", p.real)
		return nil
	}
	if w.dirs++; w.dirs > scanBounds.dirs {
		return w.bound(p, "more than %d directories", scanBounds.dirs)
	}
	w.seen[p.real] = true
	if w.watch != nil && p.archive == "" {
		w.watch(p.path, p.real)
	}
	entries, err := list(p.path)
	switch {
	case errors.Is(err, errBound):
		return w.bound(p, "more than %d entries in one directory", scanBounds.entries)
	case errors.Is(err, fs.ErrNotExist) && p.depth > 0:
		return nil // it went away during the scan
	case err != nil && p.depth == 0:
		w.reportRoot(w.roots[p.root], err)
		return nil
	case err != nil:
		w.report(p.shown, "directory-unreadable", "the directory cannot be read: %v", problem.Cause(err))
		return nil
	}
	w.names(p, entries)
	before := len(w.found)
	if c := w.examine(p, entries); c != nil {
		if len(w.found) == scanBounds.skills {
			return w.bound(p, "more than %d skills", scanBounds.skills)
		}
		w.found = append(w.found, c)
		p.inSkill = true
	}
	err = w.children(p, entries)
	if err == nil && !p.inSkill && len(w.found) == before {
		w.passedOver(p, entries)
	}
	return err
}

// names reports the names in a directory that do not show what they are.
func (w *walker) names(p location, entries []fs.DirEntry) {
	var misleading []string
	for _, e := range entries {
		if problem.IsMisleading(e.Name()) && !ignored.Directory(e.Name()) {
			misleading = append(misleading, e.Name())
		}
	}
	if misleading != nil {
		w.report(p.shown, "file-name", "%d names hold control characters, or such as change the direction of writing; the first is %q",
			len(misleading), problem.Clip(misleading[0]))
	}
}

// children goes into the directories in p, and into the links and archives
// where p is a root. Directories come first, so that a link to a sibling does
// not take its place.
func (w *walker) children(p location, entries []fs.DirEntry) error {
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && !ignored.Directory(name) && !(p.inSkill && strings.HasPrefix(name, ".")) {
			if err := w.below(p, p.child(name)); err != nil {
				return err
			}
		}
	}
	if p.depth > 0 || p.inSkill || p.archive != "" {
		return nil
	}
	for _, e := range entries {
		var err error
		switch name := e.Name(); {
		case e.Type()&fs.ModeSymlink != 0:
			err = w.link(p, p.child(name))
		case e.Type().IsRegular() && archive.Is(name):
			err = w.archive(p.child(name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) below(parent, p location) error {
	if p.depth <= scanBounds.depth {
		return w.directory(p)
	}
	if !parent.inSkill && !w.deep[p.root] {
		w.deep[p.root] = true
		w.report(p.shown, "directory-depth", "directories more than %d levels below the root are not searched", scanBounds.depth)
	}
	return nil
}

// link follows a symbolic link that lies directly in a root.
func (w *walker) link(parent, p location) error {
	real, err := filepath.EvalSymlinks(p.path)
	if err != nil {
		if _, gone := os.Lstat(p.path); gone != nil {
			return nil
		}
		w.report(p.shown, "link-broken", "the symbolic link leads nowhere: %v", problem.Cause(err))
		return nil
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		w.report(p.shown, "link-broken", "the symbolic link cannot be followed: %v", problem.Cause(err))
	case info.IsDir() && pathname.Within(parent.real, real):
		w.report(p.shown, "link-loop", "the symbolic link leads to a directory that it lies in")
	case info.IsDir():
		p.real = real
		return w.directory(p)
	case info.Mode().IsRegular() && archive.Is(p.path):
		p.real = real
		return w.archive(p)
	}
	return nil
}

// archive walks through the contents of an archive.
func (w *walker) archive(p location) error {
	r := &problem.Report{File: p.shown, Strict: w.strict}
	defer w.keep(r)
	dir := w.archives.Open(r, p.real)
	if dir == "" {
		return nil
	}
	before := len(w.found)
	p.archive = p.path
	p.path, p.real, p.depth = dir, dir, 0
	err := w.directory(p)
	if err == nil && len(w.found) == before {
		r.Add("archive-empty", problem.Position{}, "the archive holds no skill")
	}
	return err
}

// examine returns the candidate that p is, or nil.
func (w *walker) examine(p location, entries []fs.DirEntry) *candidate {
	root := w.roots[p.root]
	r := &problem.Report{File: p.shown, Strict: w.strict}
	var entry string
	if root.Pack && p.depth <= 1 && !p.inSkill {
		var without []string
		entry, without = packEntry(p.path, root.Entry, entries)
		switch {
		case entry == "" && without != nil && p.depth == 1:
			r.Add("pack-entry", problem.Position{}, "no document of the pack begins with frontmatter")
		case entry != "" && len(without) > 0 && (without[0] == root.Entry || without[0] == entryName):
			w.report(shownPath(p.shown, without[0]), "pack-entry-skipped", "the file does not begin with frontmatter and was passed over for %s", entry)
		}
	} else {
		entry = entryDocument(r, entries)
	}
	if entry == "" || r.Errors > 0 {
		w.keep(r)
		return nil
	}
	c := &candidate{
		location: p, entry: entry, prefix: root.Prefix, notes: r.Problems,
		hasTools: slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
			return e.Name() == toolsName && !e.IsDir()
		}),
	}
	if w.withheld != nil {
		c.withheld = w.withheld(p.path)
	}
	if p.archive == "" || p.depth > 0 {
		c.dirName = filepath.Base(p.path)
	}
	return c
}

func (w *walker) bound(p location, format string, args ...any) error {
	w.report(p.shown, "scan-limit", "the scan ends here: "+format, args...)
	return errBound
}

// report adds a problem of a file as a whole.
func (w *walker) report(file, rule, format string, args ...any) {
	r := &problem.Report{File: file, Strict: w.strict}
	r.Add(rule, problem.Position{}, format, args...)
	w.keep(r)
}

func (w *walker) keep(r *problem.Report) { w.problems = append(w.problems, r.Problems...) }

// watchAbove watches the nearest directory above a root that exists, in
// which the root, or the way to it, will appear again after it went away.
func (w *walker) watchAbove(path string) {
	if w.watch == nil {
		return
	}
	for {
		parent := filepath.Dir(path)
		if real, err := filepath.EvalSymlinks(parent); err == nil {
			w.watch(parent, real)
			return
		}
		if parent == path {
			return
		}
		path = parent
	}
}

// list returns a directory's entries, sorted by name. It stops at a bound and
// cannot block on a FIFO that took the directory's place.
func list(dir string) ([]fs.DirEntry, error) {
	file, err := os.OpenFile(dir, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var entries []fs.DirEntry
	for {
		more, err := file.ReadDir(4096)
		entries = append(entries, more...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(entries) > scanBounds.entries {
			return nil, errBound
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}
