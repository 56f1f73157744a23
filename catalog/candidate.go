package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog/internal/entryhead"
	"github.com/skills-mcp/skills-mcp/catalog/internal/metadata"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// candidate is a directory that holds an entry document, with what was read
// of it. It is not changed once it was loaded.
type candidate struct {
	location // of the skill's directory
	entry    string
	// dirName is what the skill must be named, or empty if it is free.
	dirName  string
	prefix   string
	hasTools bool
	withheld func(path string) bool
	notes    []Problem // of the choice of the entry document

	// was is what it was before it was to be loaded again, and indexed is true
	// where that is what an index says, and not what was read in this process.
	was     *candidate
	indexed bool

	loaded   bool // what follows is known
	read     entryhead.Reading
	problems []Problem // of the document
	gone     bool      // it went away between the listing and the reading
	// skill is the last good version, or nil if there was none.
	skill *Skill
}

// isAs reports whether what was read of old still holds for c, unless the
// document changed.
func (c *candidate) isAs(old *candidate) bool {
	return c.path == old.path && c.entry == old.entry && c.root == old.root &&
		c.dirName == old.dirName && c.prefix == old.prefix && c.hasTools == old.hasTools
}

// standsFor reports whether a candidate that a directory was is still what it
// is, where now is what it would be if it had been none. Both may be nil.
func (c *candidate) standsFor(now *candidate) bool {
	if c == nil || now == nil {
		return c == now
	}
	return !c.gone && c.isAs(now) && slices.Equal(c.notes, now.notes)
}

// again returns a candidate whose entry document may have changed, to be loaded.
func (c *candidate) again() *candidate {
	if !c.loaded {
		return c
	}
	unread := *c
	unread.loaded, unread.was = false, c
	return &unread
}

// load reads the entry document, or takes over what old, which may be nil,
// knows of it. A document that cannot be used leaves the last good version
// in force.
func (c *candidate) load(old *candidate, mode problem.Mode) {
	c.loaded, c.was, c.gone, c.skill, c.problems, c.indexed = true, nil, false, nil, nil, false
	same := old != nil && c.isAs(old)
	if same && old.read.Settled() && old.read.Current(c.path, c.entry) {
		c.read, c.problems, c.skill, c.indexed = old.read, old.problems, old.skill, old.indexed
		return
	}
	if old != nil && old.indexed { // what is past was never read
		old, same = nil, false
	}
	head, read, err := entryhead.Read(c.path, c.entry)
	linked := err != nil && isLink(filepath.Join(c.path, c.entry))
	if errors.Is(err, fs.ErrNotExist) && !linked {
		c.gone = true
		return
	}
	c.read = read
	if same && err == nil && old.read.Sum == read.Sum && old.read.Body == read.Body {
		c.problems, c.skill = old.problems, old.skill
		if c.skill != nil && c.skill.read.Sum == read.Sum {
			renewed := *c.skill
			renewed.read = read
			c.skill = &renewed
		}
		return
	}
	r := &problem.Report{File: shownPath(c.shown, c.entry), Mode: mode}
	if err != nil {
		reportUnreadable(r, err, linked)
	} else {
		if read.Body.Line > 0 {
			reportBody(r, read.Body)
		}
		if m := metadata.Parse(r, head, c.dirName); m != nil {
			c.skill = c.skillOf(m, r.Problems)
		}
	}
	if c.skill == nil && old != nil && old.skill != nil && old.root == c.root && old.prefix == c.prefix {
		c.keep(old.skill, r)
	}
	c.problems = r.Problems
}

// skillOf returns the skill of which that was read.
func (c *candidate) skillOf(m *metadata.Metadata, problems []Problem) *Skill {
	return &Skill{
		Name: m.Name, Description: m.Description, Path: path.Join(c.prefix, m.Name),
		Dir: c.path, Archive: c.archive, Withheld: c.withheld, Entry: c.entry, Root: c.root,
		Compatibility: m.Compatibility, AllowedTools: m.AllowedTools, UserOnly: m.UserOnly, ModelOnly: m.ModelOnly,
		Frontmatter: m.Frontmatter, HasTools: c.hasTools,
		shown: c.shown, read: c.read, problems: problems,
	}
}

// keep leaves an older version in force.
func (c *candidate) keep(last *Skill, r *problem.Report) {
	kept, instead := *last, c.read
	kept.keptFor = &instead
	c.skill = &kept
	for i := range r.Problems {
		r.Problems[i].Skill = last.Name
		if r.Problems[i].Severity == Error {
			r.Problems[i].Message += "; the last good version stays published"
		}
	}
}

// reportUnreadable says why an entry document could not be read, which may be
// a symbolic link.
func reportUnreadable(r *problem.Report, err error, linked bool) {
	switch {
	case errors.Is(err, entryhead.ErrNotRegular):
		r.Add("entry-type", problem.Position{}, "the entry document is not a regular file")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, entryhead.ErrUnreadable), !linked:
		r.Add("entry-unreadable", problem.Position{}, "the entry document cannot be read: %v", problem.Cause(err))
	default:
		r.Add("entry-link", problem.Position{}, "the entry document is a link that leads out of the skill directory, or to nothing")
	}
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
