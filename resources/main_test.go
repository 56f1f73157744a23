package resources_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
)

// plant writes files below a new directory and gives that. A name that ends
// in a slash is a directory.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "planted")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		host := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(host, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, host, content)
	}
	return dir
}

func write(t testing.TB, host, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(host), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(host, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string) *resources.Tree {
	t.Helper()
	return opened(t)(resources.Open(dir))
}

// opened checks that a tree was opened, and closes it with the test.
func opened(t testing.TB) func(*resources.Tree, error) *resources.Tree {
	return func(tree *resources.Tree, err error) *resources.Tree {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := tree.Close(); err != nil {
				t.Error(err)
			}
		})
		return tree
	}
}

// skill is a skill without prefix whose directory is dir.
func skill(dir string) *catalog.Skill {
	return &catalog.Skill{Name: "planted", Path: "planted", Dir: dir, Entry: "SKILL.md"}
}

// snapshot scans roots.
func snapshot(t testing.TB, roots ...catalog.Root) *catalog.Snapshot {
	t.Helper()
	c, err := catalog.Open(context.Background(), catalog.Options{Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c.Snapshot()
}

const document = "---\nname: %s\ndescription: Does a thing for a test.\n---\n\nBody.\n"

// entryDocument is a valid SKILL.md.
func entryDocument(name string) string { return strings.Replace(document, "%s", name, 1) }

// wantRule checks that an error is a refusal by that rule, and fit to be shown.
func wantRule(t testing.TB, err error, want resources.Rule) {
	t.Helper()
	var e *resources.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want a refusal by %s", err, want)
	}
	if e.Rule != want {
		t.Errorf("refused by %s (%v), want %s", e.Rule, e, want)
	}
	if e.Message == "" || e.Hint == "" {
		t.Errorf("a refusal by %s without message (%q) or hint (%q)", e.Rule, e.Message, e.Hint)
	}
	if strings.Contains(e.Message, os.TempDir()) {
		t.Errorf("message %q shows a host path", e.Message)
	}
	if strings.ContainsFunc(e.Message, func(r rune) bool { return r < ' ' }) {
		t.Errorf("message %q holds control characters", e.Message)
	}
}

// ruleOf gives the rule of a refusal, or an empty one.
func ruleOf(err error) resources.Rule {
	var e *resources.Error
	if errors.As(err, &e) {
		return e.Rule
	}
	return ""
}

// seeded checks that a fuzz target has something to start from.
func seeded(f *testing.F, seeds int) {
	f.Helper()
	if seeds == 0 {
		f.Fatal("no seeds")
	}
}
