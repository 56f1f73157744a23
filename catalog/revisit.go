package catalog

import (
	"io/fs"
	"os"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// revisit looks at a directory again, which is to be listed where it does not stand
// as it was last listed. What was read besides to judge it is not known any more.
// It reports whether there is one: that an index says so is no proof.
func (w *walker) revisit(n *node) bool {
	if w.watcher != nil && n.archive == "" {
		n.watch = w.watcher.Add(n.path, n.real)
	}
	n.judged = false
	if n.state == (filestat.State{}) && !n.recalled {
		n.listed = false
		return true
	}
	look := os.Lstat
	if n.link || n.depth == 0 {
		look = os.Stat
	}
	info, err := look(n.path)
	there := err == nil && info.IsDir()
	n.listed = n.listed && there && n.state != (filestat.State{}) && filestat.Of(info) == n.state
	return there || !n.recalled
}

// entries lists the directory of a node, and returns its state if an equal one
// proves that all that was found by the listing holds.
func (w *walker) entries(n *node) ([]fs.DirEntry, filestat.State, error) {
	file, err := os.OpenFile(n.path, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return nil, filestat.State{}, err
	}
	defer file.Close()
	var state filestat.State
	if n.archive == "" && !w.isPack(n.location) {
		state = w.settled(file)
	}
	entries, err := entriesOf(file)
	return entries, state, err
}

// settled returns the state of an open directory, or nothing where another state
// of it can look the same.
func (w *walker) settled(dir *os.File) filestat.State {
	now := time.Now()
	info, err := dir.Stat()
	if err != nil {
		return filestat.State{}
	}
	state := filestat.Of(info)
	if !state.Known() || !state.Settled(now) {
		return filestat.State{}
	}
	local, known := w.local[state.Device]
	if !known {
		local = filestat.Local(dir)
		w.local[state.Device] = local
	}
	if !local {
		return filestat.State{}
	}
	return state
}

// isPack reports whether a directory may be a capability pack: which of its
// documents is the entry depends on what they say.
func (w *walker) isPack(p location) bool { return w.roots[p.root].Pack && p.depth <= 1 && !p.inSkill }
