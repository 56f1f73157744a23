package ignored_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
)

func TestIgnored(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ name, directory bool }{
		"SKILL.md":          {},
		"scripts":           {},
		".curated":          {},
		"#":                 {},
		"cvs":               {},
		"swp":               {},
		".git":              {true, true},
		".Git":              {true, true},
		"CVS":               {true, true},
		"node_modules":      {true, true},
		"__pycache__":       {true, true},
		".DS_Store":         {true, true},
		"._SKILL.md":        {true, true},
		"SKILL.md~":         {true, true},
		"#SKILL.md#":        {true, true},
		".#SKILL.md":        {true, true},
		".SKILL.md.swp":     {true, true},
		".SKILL.md.SWN":     {true, true},
		"a.swp":             {},
		".vscode":           {false, true},
		"venv":              {false, true},
		"VENV":              {},
		"node_modules.json": {},
	} {
		if got := ignored.Name(name); got != want.name {
			t.Errorf("Name(%q) is %v", name, got)
		}
		if got := ignored.Directory(name); got != want.directory {
			t.Errorf("Directory(%q) is %v", name, got)
		}
	}
	for path, want := range map[string]bool{"a/b": false, "a/.git/config": true, ".git": true, "a/b~": true} {
		if got := ignored.Within(path); got != want {
			t.Errorf("Within(%q) is %v", path, got)
		}
	}
}
