package catalog

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/entryhead"
	"github.com/skills-mcp/skills-mcp/catalog/internal/index"
	"github.com/skills-mcp/skills-mcp/catalog/internal/metadata"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// recaller makes nodes of what an index says.
type recaller struct {
	walker *walker
	when   time.Time
}

func (r recaller) node(at location, d *index.Directory) *node {
	n := &node{location: at, listed: d.State != (filestat.State{}), state: d.State, recalled: true}
	if d.Entry != "" {
		n.found = r.candidate(at, d)
	}
	n.dirs, n.leads = r.children(at, d.Directories), r.children(at, d.Links)
	return n
}

func (r recaller) children(at location, of []index.Directory) []*node {
	if len(of) == 0 {
		return nil
	}
	nodes := make([]*node, len(of))
	for i := range of {
		d := &of[i]
		child := at.child(d.Name)
		child.inSkill = d.InSkill
		if d.Target != "" {
			child.real = d.Target
		}
		nodes[i] = r.node(child, d)
		nodes[i].link = d.Target != ""
	}
	return nodes
}

func (r recaller) candidate(at location, d *index.Directory) *candidate {
	c := r.walker.candidate(at, d.Entry, nil, d.HasTools)
	read := d.Document
	if read == nil {
		return c
	}
	c.loaded, c.indexed, c.problems = true, true, read.Problems
	c.read = entryhead.Reading{State: read.State, Sum: read.Sum, When: r.when}
	for i := range c.problems {
		c.problems[i].File = shownPath(c.shown, c.entry)
	}
	if read.Metadata != nil {
		c.skill = c.skillOf(read.Metadata, c.problems)
		c.skill.indexed = true
	}
	return c
}

// record returns what an index is to say of a node and what is below it. What was not
// listed is there by name alone, and the listing of a root is no part of it.
func (n *node) record() index.Directory {
	d := index.Directory{Name: filepath.Base(n.path), InSkill: n.inSkill}
	if n.link {
		d.Target = n.real
	}
	if n.keepable() {
		d.State = n.state
		if n.found != nil {
			d.Entry, d.HasTools, d.Document = n.found.entry, n.found.hasTools, n.found.record(n)
		}
	}
	for _, child := range n.dirs {
		if child.archive == "" {
			d.Directories = append(d.Directories, child.record())
		}
	}
	for _, lead := range n.leads {
		if lead.link && lead.listed {
			d.Links = append(d.Links, lead.record())
		}
	}
	return d
}

// keepable reports whether all that the listing of a directory led to can be had
// again from what an index says.
func (n *node) keepable() bool {
	return n.depth > 0 && n.listed && n.state != (filestat.State{}) && len(n.problems) == 0 && !n.linked &&
		(n.found == nil || len(n.found.notes) == 0)
}

// unkept reports whether there is what an index could say of a node or below it,
// and none has said.
func (n *node) unkept() bool {
	if n.keepable() && (!n.recalled || n.found != nil && !n.found.indexed && n.found.keepable(n)) {
		return true
	}
	return slices.ContainsFunc(n.dirs, (*node).unkept) || slices.ContainsFunc(n.leads, (*node).unkept)
}

// keepable reports whether what was read of an entry document, in the directory of
// a node, is what would be read again.
func (c *candidate) keepable(n *node) bool {
	return c.loaded && !c.gone && c.read.State.Known() && c.read.State.Device == n.state.Device && c.read.Settled() &&
		c.read.Body.Line == 0 && (c.skill == nil || c.skill.keptFor == nil)
}

// record returns what an index is to say of an entry document, or nil for nothing.
func (c *candidate) record(n *node) *index.Document {
	if !c.keepable(n) {
		return nil
	}
	d := &index.Document{State: c.read.State, Sum: c.read.Sum, Problems: c.problems}
	if s := c.skill; s != nil {
		d.Metadata = &metadata.Metadata{
			Name: s.Name, Description: s.Description, Compatibility: s.Compatibility, AllowedTools: s.AllowedTools,
			UserOnly: s.UserOnly, ModelOnly: s.ModelOnly, Frontmatter: s.Frontmatter,
		}
	}
	return d
}
