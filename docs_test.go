package skillsmcp_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedDependencies: ARCHITECTURE.md has a reason for every module
// that we require ourselves, and for no other.
func TestDocumentedDependencies(t *testing.T) {
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "\n## Dependencies\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no section on dependencies")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	named := map[string]bool{}
	for _, match := range regexp.MustCompile("`([a-z0-9.]+\\.[a-z]+/[^`]+)`").FindAllStringSubmatch(table, -1) {
		named[match[1]] = true
	}
	for _, match := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) {
		if !named[match[1]] {
			t.Errorf("ARCHITECTURE.md does not say why %s is required", match[1])
		}
		delete(named, match[1])
	}
	for module := range named {
		t.Errorf("ARCHITECTURE.md has a reason for %s, which is not required", module)
	}
}

// TestDocumentedPromises: each promise in docs/sandboxes.md and docs/cards.md names a
// test that shows it, and that is there.
func TestDocumentedPromises(t *testing.T) {
	checkShown(t, "docs/sandboxes.md", "promises", func(string) bool { return false })
	checkShown(t, "docs/cards.md", "promises", func(string) bool { return false })
}

// TestComingFrom: each requirement in docs/coming-from.md names a test that shows
// it, but those that only a host can meet.
func TestComingFrom(t *testing.T) {
	checkShown(t, "docs/coming-from.md", "coming-from", func(shown string) bool { return strings.HasPrefix(shown, "the host") })
}

// checkShown looks for the tests that the last column of a part's tables names,
// unless it says why there are none. A name is a package's directory and a test,
// as in `sandbox/local.TestEscapes`, a directory and the beginning of a case, as in
// `sandbox/sandboxtest: quota-`, or a script.
func checkShown(t *testing.T, page, name string, excused func(shown string) bool) {
	t.Helper()
	_, tables, _ := part(t, page, name)
	for row := range strings.Lines(tables) {
		if !strings.HasPrefix(row, "| ") || strings.Contains(row, " shown by |") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(row), " |"), " | ")
		if shown := cells[len(cells)-1]; !strings.Contains(shown, "`") && !excused(shown) {
			t.Errorf("no test shows it: %s", row)
		}
	}
	for _, match := range regexp.MustCompile("`(testdata/[a-z/-]+\\.txtar)`").FindAllStringSubmatch(tables, -1) {
		if _, err := os.Stat(match[1]); err != nil {
			t.Errorf("%s names %s: %v", page, match[1], err)
		}
	}
	for _, match := range regexp.MustCompile("`([a-z][a-z/-]*)(\\.Test[A-Za-z]+|: [a-z-]+)`").FindAllStringSubmatch(tables, -1) {
		dir, want := match[1], `"`+strings.TrimPrefix(match[2], ": ")
		if test, ok := strings.CutPrefix(match[2], "."); ok {
			want = "\nfunc " + test + "(t *testing.T)"
		}
		if !sourceHas(t, dir, want) {
			t.Errorf("%s names %s: there is no %q", page, match[0], want)
		}
	}
}

// sourceHas reports whether a Go file of a directory has a text.
func sourceHas(t *testing.T, dir, text string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), text) {
			return true
		}
	}
	return false
}
