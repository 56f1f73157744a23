package catalog

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog/internal/entryhead"
	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// skillDirs are what directories are named by convention that belong to a skill.
var skillDirs = []string{"scripts", "references"}

// passedOver returns the problem that a directory, in and below which there is no
// skill, looks as if it was meant to be one, if it does.
func (w *walker) passedOver(p location, entries []fs.DirEntry) []Problem {
	r := &problem.Report{File: p.shown, Mode: w.mode}
	if entryDocument(&problem.Report{}, entries) != "" {
		return nil // it is said what is wrong with that
	}
	document := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".md" })
	if pack := w.roots[p.root].Pack; document && pack {
		return nil // likewise
	} else if document && p.depth <= 1 && p.archive == "" {
		if name, _ := packEntry(p.path, "", entries); name != "" && isNamed(p.path, name) {
			r.File = shownPath(p.shown, name)
			r.Add("pack-root", problem.Position{}, "the file begins as the entry document of a capability pack, which is looked for in roots of packs alone")
			return r.Problems
		}
	}
	hidden := strings.HasPrefix(filepath.Base(p.path), ".") // such as .github
	for _, e := range entries {
		if p.depth > 0 && !hidden && e.IsDir() && slices.Contains(skillDirs, e.Name()) {
			r.Add("entry-missing", problem.Position{}, "the directory has %s/ as a skill has, and no SKILL.md", e.Name())
			break
		}
	}
	return r.Problems
}

// isLinkedDocument reports whether an entry is a link that may lead to a document
// in another directory.
func isLinkedDocument(e fs.DirEntry) bool {
	return e.Type()&fs.ModeSymlink != 0 && filepath.Ext(e.Name()) == ".md"
}

// isNamed reports whether a document has the frontmatter of a skill.
func isNamed(dir, name string) bool {
	head, _, err := entryhead.Read(dir, name)
	if err != nil {
		return false
	}
	r := &problem.Report{}
	p := frontmatter.Split(r, head, true)
	m, ok := frontmatter.Decode(r, p.YAML, p.Line)
	var fields struct{ Name, Description any }
	return ok && json.Unmarshal(m.JSON, &fields) == nil && fields.Name != nil && fields.Description != nil
}
