package catalog

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// archiveGrace is how long the contents of a superseded archive stay at least
// for those who read them, though one update soon follows another.
const archiveGrace = time.Second

// update looks at what the watcher knows to have changed since the last look,
// and with poll at what it does not watch, and swaps the snapshot if that made a
// difference. That is not enough where there may be other changes.
func (c *Catalog) update(ctx context.Context, poll bool) (enough bool, err error) {
	if err := c.acquire(ctx); err != nil {
		return false, err
	}
	defer c.release()
	touched, all := c.state.watcher.Touched()
	if all || c.state.tops == nil {
		return false, nil
	}
	w := c.walker(ctx, c.state.tops)
	nodes := map[*node]bool{} // true for those to be listed
	if poll && !w.poll(nodes) {
		return false, nil
	}
	c.state.tops = nil // until all of it has been looked at
	enough, err = c.lookAt(w, touched, nodes)
	if poll && !w.watcher.Limited() { // now ways may be watched too that were not
		enough = false
	}
	if enough && err == nil {
		c.state.tops = w.tops
	}
	return enough, err
}

// lookAt looks at paths that were touched. Where the directories that were listed
// hold what they held, only entry documents are read; else what came is listed,
// and the nodes are walked through.
func (c *Catalog) lookAt(w *walker, touched []watch.Touch, nodes map[*node]bool) (enough bool, err error) {
	same, suspects, err := w.touch(touched, nodes)
	if err != nil {
		return false, err
	}
	if same {
		if err := c.load(w.ctx, suspects); err != nil {
			return false, err
		}
		if !slices.ContainsFunc(suspects, func(c *candidate) bool { return c.gone }) {
			c.replace(suspects)
			return true, nil
		}
	}
	if w.watcher.Limited() { // there may be watches for other directories now
		return false, nil
	}
	c.state.archives.Begin(archiveGrace)
	whole, err := c.walk(w)
	if err != nil || !whole {
		return false, err
	}
	c.publish()
	return true, nil
}

// poll notes the nodes that are not watched, and reports whether there are any.
func (w *walker) poll(nodes map[*node]bool) bool {
	var paths []string
	for _, top := range w.tops {
		if top != nil {
			top.unwatched(func(n *node) {
				nodes[n] = true
				paths = append(paths, n.path)
			})
		}
	}
	w.watcher.Retry(paths)
	return len(paths) > 0
}

// touch lists directories in which something happened, and forgets those to which
// something did. It returns the candidates, to be loaded, whose entry documents
// may be others: a link may lead from one to any file below it. same is false
// where that is not all.
func (w *walker) touch(touched []watch.Touch, nodes map[*node]bool) (same bool, suspects []*candidate, err error) {
	same = true
	for _, t := range touched {
		for _, top := range w.tops {
			if top != nil && !w.touchBelow(top, t, nodes) {
				same = false
			}
		}
	}
	for n, list := range nodes {
		if !n.listed { // it was forgotten meanwhile
			continue
		}
		if list {
			held, err := w.list(n)
			if err != nil {
				return false, nil, err
			}
			same = same && held
		}
		if n.found != nil && n.found.loaded {
			n.found = n.found.again()
			suspects = append(suspects, n.found)
		}
	}
	return same, suspects, nil
}

// touchBelow notes which nodes of a root something happened in or below. It
// forgets that to which something happened and returns false, if there is one.
func (w *walker) touchBelow(top *node, t watch.Touch, nodes map[*node]bool) bool {
	path := filepath.Join(t.Dir, t.Name)
	if pathname.Within(top.path, path) {
		top.forget(w.watcher)
		return false
	}
	if !pathname.Within(t.Dir, top.path) {
		return true
	}
	dir := top.visit(t.Dir, func(n *node) { nodes[n] = nodes[n] || n.linked || n.path == t.Dir })
	if dir == nil {
		return true
	}
	if t.Name != "" {
		if dir = dir.child(t.Name); dir == nil {
			return true
		}
	}
	dir.forget(w.watcher)
	return false
}
