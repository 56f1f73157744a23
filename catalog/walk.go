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
	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
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

// walker finds the candidates of all roots. What a node is known to hold is taken
// as it is.
type walker struct {
	ctx      context.Context
	log      *slog.Logger
	roots    []Root
	mode     problem.Mode
	archives *archive.Archives
	withheld func(dir string) func(path string) bool // nil for nothing
	// watcher hears of each directory before it is listed, so that no change is
	// lost in between, and of what leads to a root. It may be nil.
	watcher *watch.Watcher
	tops    []*node // those of the roots; nil for what is not known
	// all is true where what is known is looked at again: only a directory that
	// stands as it was listed is not listed again.
	all   bool
	local map[uint64]bool // whether a device is [filestat.Local]

	dirs     int
	seen     map[string]bool // real paths
	deep     map[int]bool    // roots in which the depth was reported
	found    []*candidate
	problems []Problem
}

// walk goes through all roots. whole is false where it ended at a bound.
func (w *walker) walk() (whole bool, err error) {
	for i := range w.roots {
		err := w.walkRoot(i)
		switch {
		case errors.Is(err, errBound):
			return false, nil
		case err != nil:
			return false, err
		}
	}
	return true, nil
}

func (w *walker) walkRoot(i int) error {
	root := w.roots[i]
	if slices.ContainsFunc(w.roots[:i], func(r Root) bool { return r.Path == root.Path }) {
		w.report(root.Path, "root-duplicate", "the root was named before")
		return nil
	}
	way := w.watchWay("", root.Path, root.Path)
	real, err := filepath.EvalSymlinks(root.Path)
	top := w.top(i, real, way)
	if err != nil {
		w.reportRoot(root, err)
		return nil
	}
	info, err := os.Stat(real)
	switch {
	case !root.lets(real):
		w.leadsOut(top)
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

// top returns the node of a root.
func (w *walker) top(i int, real string, way []watch.Way) *node {
	if w.tops[i] == nil {
		w.tops[i] = &node{location: location{path: w.roots[i].Path, real: real, shown: w.roots[i].Path, root: i}}
	}
	w.leads(w.tops[i], real, way)
	return w.tops[i]
}

// leads has a node lead to a file or directory, or with an empty path nowhere. If
// that was another one before, what is known of it is forgotten.
func (w *walker) leads(n *node, real string, way []watch.Way) {
	n.watchWay(w.watcher, way)
	if n.real != real {
		n.forget(w.watcher)
		n.real = real
	}
}

func (w *walker) reportRoot(root Root, err error) {
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		w.report(root.Path, "root-unreadable", "the root cannot be read: %v", problem.Cause(err))
	case !root.Optional:
		w.report(root.Path, "root-missing", "the root does not exist")
	}
}

// directory looks for a skill in a directory, and then below it.
func (w *walker) directory(n *node) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if w.seen[n.real] {
		// The same directory by another way is the same skill: installers
		// link one skill into the directories of several hosts.
		w.log.Debug("directory already scanned", "path", n.path, "real", n.real)
		n.forget(w.watcher)
		return nil
	}
	if w.dirs++; w.dirs > scanBounds.dirs {
		return w.bound(n.shown, "more than %d directories", scanBounds.dirs)
	}
	w.seen[n.real] = true
	if w.all && !w.revisit(n) {
		n.forget(w.watcher)
		return nil
	}
	if !n.listed || n.found != nil && n.found.gone {
		if _, err := w.list(n); err != nil || !n.listed {
			return err
		}
	}
	w.problems = append(w.problems, n.problems...)
	if n.found != nil {
		if w.all {
			n.found = n.found.again()
		}
		if len(w.found) == scanBounds.skills {
			return w.bound(n.shown, "more than %d skills", scanBounds.skills)
		}
		w.found = append(w.found, n.found)
	}
	before := len(w.found)
	if err := w.children(n); err != nil {
		return err
	}
	if n.found == nil && !n.inSkill && len(w.found) == before {
		if !n.judged {
			entries, _ := list(n.path)
			n.judged, n.passed = true, w.passedOver(n.location, entries)
		}
		w.keep(n.passed)
	}
	return nil
}

// list lists a directory, and notes what it holds. It reports whether that is
// what it held before, but for the contents of files.
func (w *walker) list(n *node) (same bool, err error) {
	if w.watcher != nil && n.archive == "" && n.watch == (watch.Watch{}) {
		n.watch = w.watcher.Add(n.path, n.real)
	}
	r := &problem.Report{File: n.shown, Mode: w.mode}
	entries, state, err := w.entries(n)
	switch {
	case errors.Is(err, errBound):
		return false, w.bound(n.shown, "more than %d entries in one directory", scanBounds.entries)
	case errors.Is(err, fs.ErrNotExist) && n.depth > 0:
		n.forget(w.watcher) // it went away during the scan
		return false, nil
	case err != nil && n.depth == 0:
		n.forget(w.watcher)
		w.reportRoot(w.roots[n.root], err)
		return false, nil
	case err != nil:
		entries = nil
		r.Add("directory-unreadable", problem.Position{}, "the directory cannot be read: %v", problem.Cause(err))
	}
	names(r, entries)
	was, problems := n.found, n.problems
	n.found = w.examine(r, n.location, entries)
	n.listed, n.recalled, n.state, n.problems, n.linked = true, false, state, r.Problems, slices.ContainsFunc(entries, isLinkedDocument)
	same = n.hold(entries, w.watcher)
	if n.judged {
		passed := n.passed
		n.passed = w.passedOver(n.location, entries)
		same = same && slices.Equal(passed, n.passed)
	}
	if was.standsFor(n.found) {
		n.found = was
		return same && slices.Equal(problems, n.problems), nil
	}
	return false, nil
}

// names reports the names in a directory that do not show what they are.
func names(r *problem.Report, entries []fs.DirEntry) {
	var misleading []string
	for _, e := range entries {
		if problem.IsMisleading(e.Name()) && !ignored.Directory(e.Name()) {
			misleading = append(misleading, e.Name())
		}
	}
	if misleading != nil {
		r.Add("file-name", problem.Position{}, "%d names hold control characters, or such as change the direction of writing; the first is %q",
			len(misleading), problem.Clip(misleading[0]))
	}
}

// children goes into the directories in a directory, and into the links and
// archives. Directories come first, so that a link to a sibling does not take
// its place.
func (w *walker) children(n *node) error {
	for _, child := range n.dirs {
		if err := w.below(child); err != nil {
			return err
		}
	}
	for _, lead := range n.leads {
		follow := w.archive
		if lead.link {
			follow = func(lead *node) error { return w.link(n, lead) }
		}
		if err := follow(lead); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) below(n *node) error {
	if n.depth <= scanBounds.depth {
		return w.directory(n)
	}
	if !n.inSkill && !w.deep[n.root] {
		w.deep[n.root] = true
		w.report(n.shown, "directory-depth", "directories more than %d levels below the root are not searched", scanBounds.depth)
	}
	return nil
}

// link follows a symbolic link that lies directly in a root.
func (w *walker) link(parent, n *node) error {
	var way []watch.Way
	if target, err := os.Readlink(n.path); err == nil {
		way = w.watchWay(parent.real, target, n.path)
	}
	real, err := filepath.EvalSymlinks(n.path)
	w.leads(n, real, way)
	if err != nil {
		if _, gone := os.Lstat(n.path); gone != nil {
			return nil
		}
		w.report(n.shown, "link-broken", "the symbolic link leads nowhere: %v", problem.Cause(err))
		return nil
	}
	info, err := os.Stat(real)
	switch {
	case !w.roots[n.root].lets(real):
		w.leadsOut(n)
	case err != nil:
		w.report(n.shown, "link-broken", "the symbolic link cannot be followed: %v", problem.Cause(err))
	case info.IsDir() && pathname.Within(parent.real, real):
		w.report(n.shown, "link-loop", "the symbolic link leads to a directory that it lies in")
	case info.IsDir():
		return w.directory(n)
	case info.Mode().IsRegular() && archive.Is(n.path):
		return w.archive(n)
	}
	return nil
}

// leadsOut reports a link that is not followed, and forgets what lay there.
func (w *walker) leadsOut(n *node) {
	n.forget(w.watcher)
	w.report(n.shown, "link-broken", "the symbolic link leads out of the directory that the root's skills are in")
}

// archive walks through the contents of an archive.
func (w *walker) archive(n *node) error {
	r := &problem.Report{File: n.shown, Mode: w.mode}
	defer func() { w.keep(r.Problems) }()
	dir := w.archives.Open(r, n.real)
	if dir == "" {
		return nil
	}
	if len(n.dirs) != 1 || n.dirs[0].path != dir {
		n.forget(w.watcher)
		n.dirs = []*node{{location: location{path: dir, real: dir, shown: n.shown, root: n.root, inSkill: n.inSkill, archive: n.path}}}
	}
	before := len(w.found)
	err := w.directory(n.dirs[0])
	if err == nil && len(w.found) == before {
		r.Add("archive-empty", problem.Position{}, "the archive holds no skill")
	}
	return err
}

// examine returns the candidate that a directory is, or nil.
func (w *walker) examine(r *problem.Report, p location, entries []fs.DirEntry) *candidate {
	root := w.roots[p.root]
	notes := &problem.Report{File: p.shown, Mode: w.mode}
	var entry string
	if w.isPack(p) {
		var without []string
		entry, without = packEntry(p.path, root.Entry, entries)
		switch {
		case entry == "" && without != nil && p.depth == 1:
			notes.Add("pack-entry", problem.Position{}, "no document of the pack begins with frontmatter")
		case entry != "" && len(without) > 0 && (without[0] == root.Entry || without[0] == entryName):
			r.File = shownPath(p.shown, without[0])
			r.Add("pack-entry-skipped", problem.Position{}, "the file does not begin with frontmatter and was passed over for %s", entry)
		}
	} else {
		entry = entryDocument(notes, entries)
	}
	if entry == "" || notes.Errors > 0 {
		r.Problems = append(r.Problems, notes.Problems...)
		return nil
	}
	return w.candidate(p, entry, notes.Problems, slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.Name() == toolsName && !e.IsDir()
	}))
}

// candidate returns what a directory is that has an entry document.
func (w *walker) candidate(p location, entry string, notes []Problem, hasTools bool) *candidate {
	c := &candidate{location: p, entry: entry, prefix: w.roots[p.root].Prefix, notes: notes, hasTools: hasTools}
	if w.withheld != nil {
		c.withheld = w.withheld(p.path)
	}
	if p.archive == "" || p.depth > 0 {
		c.dirName = filepath.Base(p.path)
	}
	return c
}

func (w *walker) bound(shown, format string, args ...any) error {
	w.report(shown, "scan-limit", "the scan ends here: "+format, args...)
	return errBound
}

// report adds a problem of a file as a whole.
func (w *walker) report(file, rule, format string, args ...any) {
	r := &problem.Report{File: file, Mode: w.mode}
	r.Add(rule, problem.Position{}, format, args...)
	w.keep(r.Problems)
}

func (w *walker) keep(problems []Problem) { w.problems = append(w.problems, problems...) }

// list returns a directory's entries, sorted by name. It stops at a bound and
// cannot block on a FIFO that took the directory's place.
func list(dir string) ([]fs.DirEntry, error) {
	file, err := os.OpenFile(dir, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return entriesOf(file)
}

func entriesOf(file *os.File) ([]fs.DirEntry, error) {
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
