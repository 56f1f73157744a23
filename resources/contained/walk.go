package contained

import (
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

// maxScanned is how many names one walk looks at, ignored ones included, before
// it stops.
const maxScanned = 100_000

// Walk visits the files and directories that are served, a directory before
// what is in it. An error of visit ends the walk. more reports whether there
// are more than 100,000 names, so that some were not visited. Other errors are
// [*Error].
func (d *Dir) Walk(visit func(clean string, info fs.FileInfo) error) (more bool, err error) {
	w := walk{dir: d, keep: maxScanned, visit: visit}
	err = w.from(".", maxPathSegments)
	return w.more, err
}

// Readlink returns what a link says that [Dir.Walk] visited.
func (d *Dir) Readlink(clean string) (string, error) { return d.root.Readlink(clean) }

// walk goes through what is served below a directory.
type walk struct {
	dir *Dir
	// keep is how many names of one directory are gone into: those first in
	// byte order.
	keep int
	// visit is called with each directory and file, a directory before what is
	// in it. Where it returns errSkip for a directory, that is not gone into;
	// any other error ends the walk.
	visit func(clean string, info fs.FileInfo) error
	// scanned counts names; more is set where some were not gone into.
	scanned int
	more    bool
}

// errSkip keeps the walk from going into a directory.
var errSkip = errors.New("skip this directory")

// from walks through a clean directory down to depth levels.
func (w *walk) from(dir string, depth int) error {
	names, refused := w.names(dir)
	if refused != nil {
		return refused
	}
	return w.in(dir, names, depth, w.dir.way(dir))
}

// in visits names of a directory. passed are the directories on the way to it,
// itself included.
func (w *walk) in(dir string, names []string, depth int, passed []fs.FileInfo) error {
	for _, name := range names {
		child := path.Join(dir, name)
		info, ok := w.look(child, passed)
		if !ok {
			continue
		}
		err := w.visit(child, info)
		if err == nil && info.IsDir() && depth > 1 {
			below, refused := w.names(child)
			switch {
			case refused == nil:
				err = w.in(child, below, depth-1, append(slices.Clip(passed), info))
			case refused.Rule == Unreadable: // else it is not served
				err = refused
			}
		}
		if err != nil && err != errSkip {
			return err
		}
	}
	return nil
}

// look returns what a name leads to. ok is false for what is not served.
func (w *walk) look(child string, passed []fs.FileInfo) (info fs.FileInfo, ok bool) {
	if !w.dir.lists(child) || w.dir.withheld(child) {
		return nil, false
	}
	info, err := w.dir.root.Lstat(child)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if w.dir.options.Runnable {
			return info, true
		}
		info, err = w.dir.root.Stat(child)
		if err == nil && contains(passed, info) {
			return nil, false
		}
	}
	return info, err == nil && w.dir.checkMode(info, child) == nil
}

// lists reports whether a path found in the directory keeps the rules of what
// is listed.
func (d *Dir) lists(child string) bool {
	if _, err := CleanBytes(child); err != nil || child == d.options.Hidden {
		return false
	}
	entry := d.options.Entry
	return child != skillDocument || entry == "" || entry == skillDocument
}

// names returns the first names of a directory in byte order.
func (w *walk) names(dir string) (names []string, refused *Error) {
	file, err := w.dir.root.OpenFile(dir, os.O_RDONLY|openflag.NonBlock|openflag.NoTerminal|openflag.Directory, 0)
	if err != nil {
		return nil, w.dir.refusal(dir, err)
	}
	defer file.Close()
	first := smallest[string]{n: w.keep, compare: strings.Compare}
	for err == nil && w.scanned < maxScanned {
		var batch []string
		batch, err = file.Readdirnames(min(1024, maxScanned-w.scanned))
		w.scanned += len(batch)
		for _, name := range batch {
			if !w.ignores(name) {
				first.add(name)
			}
		}
	}
	if err != nil && err != io.EOF {
		return nil, w.dir.refusal(dir, err)
	}
	names = first.sorted()
	w.more = w.more || first.more || err == nil
	return names, nil
}

func (w *walk) ignores(name string) bool {
	return ignored.Name(name) && !(w.dir.options.Runnable && strings.EqualFold(name, ignored.Packages))
}
