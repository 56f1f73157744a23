// Package filetest has what the tests of resources share: directories, honest
// and hostile, and checks of refusals.
package filetest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// Plant writes files below a new directory and returns that. A name that ends
// in a slash is a directory.
func Plant(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "planted")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	testfiles.Fill(t, dir, files)
	return dir
}

// Open opens a directory until the test ends.
func Open(t testing.TB, path string, options contained.Options) *contained.Dir {
	t.Helper()
	dir, err := contained.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dir.Close(); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Read opens a file and reads a page of it.
func Read(dir *contained.Dir, name string, r contained.Range) (contained.Content, error) {
	file, err := dir.Open(name)
	if err != nil {
		return contained.Content{}, err
	}
	defer file.Close()
	return file.Read(r)
}

// Skill is a skill without prefix whose directory is dir.
func Skill(dir string) *catalog.Skill {
	return &catalog.Skill{Name: "planted", Path: "planted", Dir: dir, Entry: "SKILL.md"}
}

const document = "---\nname: %s\ndescription: Does a thing for a test.\n---\n\nBody.\n"

// EntryDocument is a valid SKILL.md.
func EntryDocument(name string) string { return strings.Replace(document, "%s", name, 1) }

// WantRule checks that an error is a refusal by that rule, and fit to be shown.
func WantRule(t testing.TB, err error, want contained.Rule) {
	t.Helper()
	var e *contained.Error
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

// RuleOf returns the rule of a refusal, or an empty one.
func RuleOf(err error) contained.Rule {
	if e, ok := errors.AsType[*contained.Error](err); ok {
		return e.Rule
	}
	return ""
}

// Seeded checks that a fuzz target has something to start from.
func Seeded(f *testing.F, seeds int) {
	f.Helper()
	if seeds == 0 {
		f.Fatal("no seeds")
	}
}

// CleanPaths are paths that are taken, and the form they are brought into.
var CleanPaths = []struct{ Give, Want string }{
	{"SKILL.md", "SKILL.md"},
	{".", "."},
	{"./", "."},
	{"./x", "x"},
	{"x/", "x"},
	{"x//y", "x/y"},
	{"x/.", "x"},
	{"./x/././y/", "x/y"},
	{"a b/ü#?%[1].md", "a b/ü#?%[1].md"},
	{"...", "..."},
	{"a..b/..c", "a..b/..c"},
	{"line\nbreak", "line\nbreak"},
	{"~/x", "~/x"},
	{strings.Repeat("a/", 63) + "a", strings.Repeat("a/", 63) + "a"},
	{strings.Repeat("./", 100) + "a", "a"},
	{strings.Repeat("a", 4096), strings.Repeat("a", 4096)},
}
