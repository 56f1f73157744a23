package catalog

import (
	"encoding/json"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// skillDirs are what directories are named by convention that belong to a skill.
var skillDirs = []string{"scripts", "references"}

// passedOver reports that p, in and below which there is no skill, looks as if it
// was meant to be one.
func (w *walker) passedOver(p location, entries []fs.DirEntry) {
	if entryDocument(&problem.Report{}, entries) != "" {
		return // it is said what is wrong with that
	}
	document := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".md" })
	if pack := w.roots[p.root].Pack; document && pack {
		return // likewise
	} else if document && p.depth <= 1 && p.archive == "" {
		if name, _ := packEntry(p.path, "", entries); name != "" && isNamed(p.path, name) {
			w.report(shownPath(p.shown, name), "pack-root", "the file begins as the entry document of a capability pack, which is looked for in roots of packs alone")
			return
		}
	}
	for _, e := range entries {
		if p.depth > 0 && e.IsDir() && slices.Contains(skillDirs, e.Name()) {
			w.report(p.shown, "entry-missing", "the directory has %s/ as a skill has, and no SKILL.md", e.Name())
			return
		}
	}
}

// isNamed reports whether a document has the frontmatter of a skill.
func isNamed(dir, name string) bool {
	head, _, err := readHead(dir, name)
	if err != nil {
		return false
	}
	r := &problem.Report{}
	p := frontmatter.Split(r, head, true)
	m, ok := frontmatter.Decode(r, p.YAML, p.Line)
	var fields struct{ Name, Description any }
	return ok && json.Unmarshal(m.JSON, &fields) == nil && fields.Name != nil && fields.Description != nil
}
