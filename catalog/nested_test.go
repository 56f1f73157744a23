package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// TestNestedPaths: a skill in another one has the other's path before its own,
// and is listed as any other.
func TestNestedPaths(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for dir, name := range map[string]string{
		"outer": "outer", "outer/parts/inner": "inner", "outer/parts/inner/deep er/core": "core",
		"outer/renamed-dir": "renamed", "group/alone": "alone", "outer-two": "outer-two",
	} {
		full := filepath.Join(root, filepath.FromSlash(dir))
		if err := os.MkdirAll(full, 0o755); err != nil {
			t.Fatal(err)
		}
		text := "---\nname: " + name + "\ndescription: Is " + name + ".\n---\n"
		if err := os.WriteFile(filepath.Join(full, "SKILL.md"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c, err := catalog.Open(t.Context(), catalog.Options{Roots: []catalog.Root{{Path: root, Prefix: "team"}}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want := map[string]string{
		"outer": "team/outer", "inner": "team/outer/parts/inner", "core": "team/outer/parts/inner/deep er/core",
		"renamed": "team/outer/renamed", "alone": "team/alone", "outer-two": "team/outer-two",
	}
	for range 2 { // the second snapshot takes over what the first one read
		for name, path := range want {
			skill, ok := c.Snapshot().Lookup(name)
			if !ok || skill.Path != path {
				t.Errorf("%s: %+v, want the path %q", name, skill, path)
			}
		}
		if n := len(c.Snapshot().Skills()); n != len(want) {
			t.Errorf("%d skills, want %d", n, len(want))
		}
		if _, err := c.Rescan(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
