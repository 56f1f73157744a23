package overlay

import (
	"maps"
	"path"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// Without returns the items that remain where those at the paths of gone do not,
// nor what programs only touched.
func (s *Snapshot) Without(gone map[string]bool, lower *files.Tree) map[string]*Item {
	idle, touched := map[string]bool{}, map[string]bool{} // touched are covers of which not all remains
	for p, i := range s.Items {
		if idle[p] = !gone[p] && (i.Unchanged() || i.idle(lower)); gone[p] {
			markCovers(p, s.Covers, touched)
		}
	}
	used := map[string]bool{} // covers that make a difference
	for p := range s.Items {
		if !idle[p] && !gone[p] {
			markCovers(p, s.Covers, used)
		}
	}
	maps.DeleteFunc(used, func(c string, _ bool) bool { return touched[c] })
	remaining := maps.Clone(s.Items)
	maps.DeleteFunc(remaining, func(p string, _ *Item) bool { return gone[p] || idle[p] && !within(p, used) })
	return remaining
}

// markCovers marks the covers above a path, and the path if it is one.
func markCovers(p string, covers, marks map[string]bool) {
	for ; p != "."; p = path.Dir(p) {
		if covers[p] {
			marks[p] = true
		}
	}
}

// idle reports whether an item makes no difference to the user's file.
func (i *Item) idle(lower *files.Tree) bool {
	if lower == nil {
		return false
	}
	now, err := lower.StatIfThere(i.Path)
	return err == nil && lower.Is(i.Path, now, i.Now)
}
