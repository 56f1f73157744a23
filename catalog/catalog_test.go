package catalog_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// skillText is an entry document without faults.
func skillText(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\n# " + name + "\n"
}

// plant writes files into a new directory and returns its real path.
func plant(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

// write writes a file, and the directories that it needs.
func write(t testing.TB, path, text string) {
	t.Helper()
	testfiles.Write(t, path, text)
}

// check fails the test on an error of setting it up.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, opts catalog.Options) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), opts)
	check(t, err)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// openDirs opens a lenient catalog over directories.
func openDirs(t testing.TB, dirs ...string) *catalog.Catalog {
	t.Helper()
	var roots []catalog.Root
	for _, dir := range dirs {
		roots = append(roots, catalog.Root{Path: dir})
	}
	return open(t, catalog.Options{Roots: roots})
}

func rescan(t testing.TB, c *catalog.Catalog) *catalog.Snapshot {
	t.Helper()
	s, err := c.Rescan(t.Context())
	check(t, err)
	return s
}

func names(s *catalog.Snapshot) string {
	var all []string
	for _, skill := range s.Skills() {
		all = append(all, skill.Name)
	}
	return strings.Join(all, " ")
}

func lookup(t testing.TB, s *catalog.Snapshot, name string) *catalog.Skill {
	t.Helper()
	skill, ok := s.Lookup(name)
	if !ok {
		t.Fatalf("no skill %q; skills: %s; problems: %v", name, names(s), s.Problems())
	}
	return skill
}

// rules returns the names of the rules that were broken, sorted.
func rules(problems []catalog.Problem) string {
	var all []string
	for _, p := range problems {
		all = append(all, p.Rule)
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

func wantNames(t testing.TB, s *catalog.Snapshot, want string) {
	t.Helper()
	if got := names(s); got != want {
		t.Errorf("skills: %q, want %q; problems: %v", got, want, s.Problems())
	}
}

func wantRules(t testing.TB, problems []catalog.Problem, want string) {
	t.Helper()
	if got := rules(problems); got != want {
		t.Errorf("rules broken: %q, want %q; problems: %v", got, want, problems)
	}
}
