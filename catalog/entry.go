package catalog

import (
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog/internal/entryhead"
	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

const (
	entryName = "SKILL.md"
	toolsName = "tools.json"
	// maxPackEntries bounds how many documents of a pack are opened in
	// search of the one that carries frontmatter.
	maxPackEntries = 32
)

// entryDocument chooses the entry document among a directory's sorted entries,
// or returns the empty string.
func entryDocument(r *problem.Report, entries []fs.DirEntry) string {
	var found []string
	for _, e := range entries {
		if name := e.Name(); len(name) == len(entryName) && strings.EqualFold(name, entryName) {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return ""
	}
	chosen := found[0]
	// The reference validator looks for SKILL.md, then for skill.md.
	for _, preferred := range []string{"skill.md", entryName} {
		if slices.Contains(found, preferred) {
			chosen = preferred
		}
	}
	r.File = shownPath(r.File, chosen)
	if len(found) > 1 {
		r.Add("entry-twice", problem.Position{}, "it was chosen among files that differ in letter case only")
	}
	switch chosen {
	case entryName:
	case "skill.md":
		r.Add("entry-lowercase", problem.Position{}, "the file is named skill.md")
	default:
		r.Add("entry-case", problem.Position{}, "the file is named %s", chosen)
	}
	return chosen
}

// packEntry chooses the entry document of a capability pack: the first that
// carries frontmatter of the configured name, SKILL.md, README.md and the
// *.md files in byte order. Without are those that come before it, or all, which
// carry none.
func packEntry(dir, configured string, entries []fs.DirEntry) (name string, without []string) {
	there := map[string]bool{}
	var documents []string
	for _, e := range entries {
		there[e.Name()] = true
		if filepath.Ext(e.Name()) == ".md" {
			documents = append(documents, e.Name())
		}
	}
	slices.Sort(documents)
	order := append([]string{configured, entryName, "README.md"}, documents...)
	for i, candidate := range order {
		if !there[candidate] || slices.Contains(order[:i], candidate) || len(without) == maxPackEntries {
			continue
		}
		if head, _, err := entryhead.Read(dir, candidate); err == nil && frontmatter.Begins(head) {
			return candidate, without
		}
		without = append(without, candidate)
	}
	return "", without
}

// shownPath joins a path for a problem.
func shownPath(dir, name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
