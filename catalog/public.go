package catalog

import (
	"cmp"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/pathname"
)

// Public returns the problems of a snapshot of this catalog that clients may hear
// of: of nothing that [Options.Hides] hides or would hide, and with no path of
// this machine. Files are named from the name of their root on, slash-separated.
func (c *Catalog) Public(s *Snapshot) iter.Seq[Problem] {
	roots := slices.Clone(c.options.Roots)
	slices.SortStableFunc(roots, func(a, b Root) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	return func(yield func(Problem) bool) {
		for _, p := range s.problems {
			if c.concealed(s, p) {
				continue
			}
			for _, root := range roots {
				p.File, p.Winner, p.Message = fromRoot(root, p.File), fromRoot(root, p.Winner), fromRoot(root, p.Message)
			}
			p.File, p.Winner = filepath.ToSlash(p.File), filepath.ToSlash(p.Winner)
			if !yield(p) {
				return
			}
		}
	}
}

// fromRoot returns a text in which the paths of a root and of what is in it begin
// with the root's name.
func fromRoot(root Root, text string) string {
	name, separator := filepath.Base(root.Path), string(filepath.Separator)
	if name == separator {
		return text
	}
	return strings.ReplaceAll(text, root.Path, name)
}

// concealed reports whether a problem is of a skill that is hidden, or would be
// where it could be used.
func (c *Catalog) concealed(s *Snapshot, p Problem) bool {
	if slices.ContainsFunc(s.hidden, func(skill *Skill) bool { return pathname.Within(p.File, skill.Place()) }) {
		return true
	}
	for i, root := range c.options.Roots {
		if p.File != root.Path && pathname.Within(p.File, root.Path) && c.options.Hides(i, skillOf(p)) {
			return true
		}
	}
	return false
}

// skillOf returns the name of the skill that a problem is of, or that its
// directory or archive would have.
func skillOf(p Problem) string {
	name := filepath.ToSlash(p.File)
	switch ext := path.Ext(name); {
	case p.Skill != "":
		return p.Skill
	case ext == ".md" || strings.EqualFold(path.Base(name), entryName): // an entry document
		return path.Base(path.Dir(name))
	default:
		return strings.TrimSuffix(path.Base(name), ext)
	}
}
