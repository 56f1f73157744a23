package contained

import (
	"container/heap"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// maxScanned is how many names one listing or manifest looks at, ignored ones
// included, before it stops.
const maxScanned = 100_000

// Walk visits the files and directories that are served, a directory before
// what is in it. Errors of visit end the walk. more reports whether there are
// more than 100,000 names, so that some were not visited. Other errors are
// [*Error].
func (d *Dir) Walk(visit func(clean string, info fs.FileInfo) error) (more bool, err error) {
	return d.walk(".", visit)
}

// walk is Walk below a directory that a caller named.
func (d *Dir) walk(dir string, visit func(clean string, info fs.FileInfo) error) (more bool, err error) {
	clean, passed, err := d.enter(dir)
	if err != nil {
		return false, err
	}
	w := walk{dir: d, keep: maxScanned, visit: visit}
	err = w.in(clean, maxPathSegments, passed)
	return w.more, err
}

// walk goes through what is served below a directory.
type walk struct {
	dir *Dir
	// keep is how many names of one directory are gone into: those first in
	// byte order.
	keep int
	// visit gets each directory and file, a directory before what is in it.
	// Where it gives skip for a directory, that is not gone into; any other
	// error ends the walk.
	visit func(clean string, info fs.FileInfo) error
	// scanned counts names; more tells that some were not gone into.
	scanned int
	more    bool
}

// errSkip tells the walk not to go into a directory.
var errSkip = errors.New("skip this directory")

// in walks through the directory dir down to depth levels. passed are the
// directories on the way to it, itself included.
func (w *walk) in(dir string, depth int, passed []fs.FileInfo) error {
	names, err := w.names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		child := path.Join(dir, name)
		info, ok := w.look(child, passed)
		if !ok {
			continue
		}
		err := w.visit(child, info)
		if err == nil && info.IsDir() && depth > 1 {
			err = w.into(child, depth-1, append(slices.Clip(passed), info))
		}
		if err != nil && err != errSkip {
			return err
		}
	}
	return nil
}

// into goes into a subdirectory. One that cannot be read is not served.
func (w *walk) into(dir string, depth int, passed []fs.FileInfo) error {
	err := w.in(dir, depth, passed)
	var e *Error
	if errors.As(err, &e) && e.Rule != Unreadable {
		return nil
	}
	return err
}

// look gives what a name leads to. ok is false for what is not served.
func (w *walk) look(child string, passed []fs.FileInfo) (info fs.FileInfo, ok bool) {
	if !w.dir.lists(child) {
		return nil, false
	}
	link, err := w.dir.root.Lstat(child)
	if err != nil {
		return nil, false
	}
	if info = link; link.Mode()&fs.ModeSymlink != 0 {
		if w.dir.options.Runnable {
			return link, true
		}
		if info, err = w.dir.root.Stat(child); err != nil {
			return nil, false
		}
		for _, dir := range passed {
			if os.SameFile(dir, info) {
				return nil, false
			}
		}
	}
	return info, w.dir.checkMode(info, child) == nil
}

// lists tells whether a path found in the directory keeps the rules of what
// is listed.
func (d *Dir) lists(child string) bool {
	if _, err := CleanBytes(child); err != nil || child == d.options.Hidden {
		return false
	}
	entry := d.options.Entry
	return child != skillDocument || entry == "" || entry == skillDocument
}

// names gives the first names of a directory in byte order.
func (w *walk) names(dir string) ([]string, error) {
	file, err := w.dir.root.OpenFile(dir, os.O_RDONLY|openflag.NonBlock|openflag.NoTerminal|openflag.Directory, 0)
	if err != nil {
		return nil, w.dir.refusal(dir, err)
	}
	defer file.Close()
	var first largestOnTop
	for {
		if w.scanned >= maxScanned {
			w.more = true
			break
		}
		batch, err := file.Readdirnames(min(1024, maxScanned-w.scanned))
		w.scanned += len(batch)
		for _, name := range batch {
			if !w.drops(name) {
				w.more = first.keep(name, w.keep) || w.more
			}
		}
		if err == io.EOF || err == nil && len(batch) == 0 {
			break
		}
		if err != nil {
			return nil, w.dir.refusal(dir, err)
		}
	}
	slices.Sort(first)
	return first, nil
}

// drops tells the name of what is passed over.
func (w *walk) drops(name string) bool {
	return ignored.Name(name) && !(w.dir.options.Runnable && strings.EqualFold(name, ignored.Packages))
}

// largestOnTop is a heap by which to keep the smallest of many strings.
type largestOnTop []string

func (h largestOnTop) Len() int           { return len(h) }
func (h largestOnTop) Less(i, j int) bool { return h[i] > h[j] }
func (h largestOnTop) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *largestOnTop) Push(x any)        { *h = append(*h, x.(string)) }
func (h *largestOnTop) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// keep puts name among the n smallest and tells whether one was dropped.
func (h *largestOnTop) keep(name string, n int) (dropped bool) {
	switch {
	case len(*h) < n:
		heap.Push(h, name)
		return false
	case name < (*h)[0]:
		(*h)[0] = name
		heap.Fix(h, 0)
	}
	return true
}
