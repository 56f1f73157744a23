package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog/internal/entryhead"
	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
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
	unread := *c
	unread.loaded = false
	return &unread
}

// load reads the entry document, or takes over what old, which may be nil,
// knows of it. A document that cannot be used leaves the last good version
// in force.
func (c *candidate) load(old *candidate, mode problem.Mode) {
	c.loaded, c.gone, c.skill, c.problems = true, false, nil, nil
	same := old != nil && c.isAs(old)
	if same && old.read.Settled() && old.read.Current(c.path, c.entry) {
		c.read, c.problems, c.skill = old.read, old.problems, old.skill
		return
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
		c.skill = parseSkill(r, head, c.dirName, c.prefix)
	}
	if c.skill != nil {
		c.skill.Dir, c.skill.Archive, c.skill.Entry, c.skill.Root, c.skill.HasTools = c.path, c.archive, c.entry, c.root, c.hasTools
		c.skill.Withheld, c.skill.shown, c.skill.read, c.skill.problems = c.withheld, c.shown, read, r.Problems
	} else if old != nil && old.skill != nil && old.root == c.root && old.prefix == c.prefix {
		c.keep(old.skill, r)
	}
	c.problems = r.Problems
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

// parseSkill reads a skill from the head of its entry document.
func parseSkill(r *problem.Report, head []byte, dirName, prefix string) *Skill {
	p := frontmatter.Split(r, head, len(head) < frontmatter.MaxHeadBytes)
	if !p.Found {
		return nil
	}
	m, ok := frontmatter.Decode(r, p.YAML, p.Line)
	if !ok {
		return nil
	}
	skill := validate(r, m, dirName, prefix)
	if skill != nil && r.Mode == problem.Strict && referenceRefuses(r, head, p, dirName) {
		return nil
	}
	return skill
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
		r.Add("entry-link", problem.Position{}, "the entry document is a link that leads out of the skill directory, or nowhere")
	}
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}
