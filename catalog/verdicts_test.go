package catalog_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// TestVerdicts holds the strict mode to the table of what the reference validator
// says, which integration/frontmatter asks itself.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for _, c := range testdata.ReferenceCases(t) {
		root := t.TempDir()
		c.Write(t, root)
		s := open(t, catalog.Options{Roots: []catalog.Root{{Path: root}}, Strict: true}).Snapshot()
		published := slices.ContainsFunc(s.Skills(), func(skill *catalog.Skill) bool { return skill.Dir == filepath.Join(root, c.Dir()) })
		if want := c.Valid && !c.Stricter; published != want {
			t.Errorf("%s:%d: published %v, want %v: %.90q: %v", testdata.VerdictsFile(), c.Line, published, want, c.Content, s.Problems())
		}
	}
}
