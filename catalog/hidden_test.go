package catalog_test

import (
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// TestHides: a hidden skill is in no list, costs no other skill its name, and is
// hidden by the name that it has at that moment.
func TestHides(t *testing.T) {
	t.Parallel()
	first := plant(t, map[string]string{"a/SKILL.md": skillText("a", "first"), "b/SKILL.md": skillText("b", "x"), "b/c/SKILL.md": skillText("c", "inner")})
	second := plant(t, map[string]string{"a/SKILL.md": skillText("a", "second"), "secret/SKILL.md": skillText("secret", "x")})
	c := open(t, catalog.Options{
		Roots: []catalog.Root{{Path: first}, {Path: second}},
		Hides: func(root int, name string) bool { return name == "secret" || root == 0 && name != "c" },
	})
	wantNames(t, c.Snapshot(), "a c")
	wantRules(t, c.Snapshot().Problems(), "")
	if a := lookup(t, c.Snapshot(), "a"); a.Description != "second" {
		t.Errorf("the hidden skill keeps the name: %q", a.Description)
	}
	if inner := lookup(t, c.Snapshot(), "c"); inner.Path != "c" {
		t.Errorf("the path %q names a hidden skill", inner.Path)
	}
	var hidden []string
	for _, skill := range c.Snapshot().Hidden() {
		hidden = append(hidden, skill.Name+" in "+filepath.Base(filepath.Dir(skill.Dir)))
	}
	if want := []string{"a in " + filepath.Base(first), "b in " + filepath.Base(first), "secret in " + filepath.Base(second)}; len(hidden) != 3 || hidden[0] != want[0] || hidden[1] != want[1] || hidden[2] != want[2] {
		t.Errorf("hidden are %q, want %q", hidden, want)
	}

	// One that takes a hidden name is gone at once, also for a reader that
	// finds it stale.
	write(t, filepath.Join(second, "a/SKILL.md"), skillText("secret", "was a"))
	if skill, ok, err := c.Refresh(t.Context(), "a"); ok || err != nil {
		t.Errorf("%+v, %v", skill, err)
	}
	wantNames(t, c.Snapshot(), "c")
	write(t, filepath.Join(second, "secret/SKILL.md"), skillText("shown", "was secret"))
	wantNames(t, rescan(t, c), "c shown")
}

// TestWatchHides: no client hears of what becomes of a hidden skill.
func TestWatchHides(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{"a/SKILL.md": skillText("a", "one"), "secret/SKILL.md": skillText("secret", "one")})
	options := roots(dir)
	options.Hides = func(_ int, name string) bool { return name == "secret" }
	f := follow(t, options)
	f.watching(filepath.Join(dir, "secret"))
	write(t, filepath.Join(dir, "secret/SKILL.md"), skillText("secret", "two"))
	write(t, filepath.Join(dir, "secret/notes.md"), "new")
	write(t, filepath.Join(dir, "a/SKILL.md"), skillText("a", "two"))
	f.until("the other skill's change", func(change catalog.Change) bool {
		for _, file := range change.Files {
			if filepath.Dir(file) == filepath.Join(dir, "secret") {
				t.Errorf("a change of %s was told", file)
			}
		}
		_, ok := change.After.Lookup("a")
		return ok && lookup(t, change.After, "a").Description == "two"
	})
}
