package catalog

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog/internal/archive"
	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/ignored"
)

// location is where a directory is on a walk.
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

// child returns the location of an entry. Paths that are equal share their
// memory.
func (p location) child(name string) location {
	path := filepath.Join(p.path, name)
	p.real = joined(p, p.real, path, name)
	p.shown = joined(p, p.shown, path, name)
	p.path = path
	p.depth++
	return p
}

func joined(p location, dir, path, name string) string {
	if dir == p.path {
		return path
	}
	return filepath.Join(dir, name)
}

// node is a directory on a walk, with what it was found to hold when it was last
// listed, so that the next walk lists only what changed. The node of an archive
// has one directory, the root of its contents.
type node struct {
	location
	link     bool    // a symbolic link in a root
	listed   bool    // what follows is known
	dirs     []*node // in which skills are looked for, by name
	leads    []*node // links and archives, by name; in roots alone
	found    *candidate
	problems []Problem
	judged   bool      // what follows is known
	passed   []Problem // of a directory without a skill that looks like one
	linked   bool      // documents in it may lie in other directories
	// state is that of the directory when it was listed, where an equal one proves
	// that it holds the same; else it is zero.
	state    filestat.State
	recalled bool // this is what an index says
	watch    watch.Watch
	way      []watch.Way // to what a link or a root leads to
}

// forget forgets what a node held, and everything below it. The watcher may be
// nil.
func (n *node) forget(watcher *watch.Watcher) {
	for _, children := range [][]*node{n.dirs, n.leads} {
		for _, child := range children {
			child.drop(watcher)
		}
	}
	if watcher != nil {
		watcher.Remove(n.watch, n.path)
	}
	*n = node{location: n.location, link: n.link, way: n.way}
}

// drop forgets a node that nothing has any more.
func (n *node) drop(watcher *watch.Watcher) {
	n.forget(watcher)
	n.watchWay(watcher, nil)
}

// watchWay has a way watched in place of the one that was.
func (n *node) watchWay(watcher *watch.Watcher, way []watch.Way) {
	for _, old := range n.way {
		if !slices.Contains(way, old) {
			watcher.RemoveWay(old)
		}
	}
	n.way = way
}

// hold makes the entries of a directory its nodes. Those that it had stay, where
// they are what they were. It reports whether all did, and no other came.
func (n *node) hold(entries []fs.DirEntry, watcher *watch.Watcher) (same bool) {
	was := *n
	n.dirs, n.leads = nil, nil
	inner := n.location
	inner.inSkill = n.inSkill || n.found != nil
	top := n.depth == 0 && !inner.inSkill && n.archive == ""
	for _, e := range entries {
		name, link := e.Name(), e.Type()&fs.ModeSymlink != 0
		switch {
		case e.IsDir() && !ignored.Directory(name) && !(inner.inSkill && strings.HasPrefix(name, ".")):
			n.dirs = append(n.dirs, was.kept(inner, name, link))
		case top && (link || e.Type().IsRegular() && archive.Is(name)):
			n.leads = append(n.leads, was.kept(inner, name, link))
		}
	}
	for _, old := range slices.Concat(was.dirs, was.leads) {
		if n.child(filepath.Base(old.path)) != old {
			old.drop(watcher)
		}
	}
	return slices.Equal(n.dirs, was.dirs) && slices.Equal(n.leads, was.leads)
}

// kept returns the node of an entry, or a new one where there was none like it.
func (n *node) kept(inner location, name string, link bool) *node {
	if old := n.child(name); old != nil && old.link == link && old.inSkill == inner.inSkill {
		return old
	}
	return &node{location: inner.child(name), link: link}
}

// child returns the node of an entry, or nil.
func (n *node) child(name string) *node {
	for _, children := range [][]*node{n.dirs, n.leads} {
		if i, found := slices.BinarySearchFunc(children, name, byName); found {
			return children[i]
		}
	}
	return nil
}

func byName(n *node, name string) int { return strings.Compare(filepath.Base(n.path), name) }

// unwatched calls touch with the nodes that were listed and not watched, where
// those of archives need not be.
func (n *node) unwatched(touch func(*node)) {
	if n.listed && n.archive == "" && n.watch == (watch.Watch{}) {
		touch(n)
	}
	for _, children := range [][]*node{n.dirs, n.leads} {
		for _, child := range children {
			child.unwatched(touch)
		}
	}
}

// visit calls touch with the nodes on the way from n to a path below it, as far
// as they are known. It returns the one of the path itself, or nil.
func (n *node) visit(path string, touch func(*node)) *node {
	for n != nil {
		touch(n)
		if n.path == path {
			return n
		}
		rest := strings.TrimPrefix(path[len(n.path):], string(filepath.Separator))
		name, _, _ := strings.Cut(rest, string(filepath.Separator))
		n = n.child(name)
	}
	return nil
}
