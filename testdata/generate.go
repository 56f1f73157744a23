package testdata

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Generate writes n small valid skills, named skill-00000 and up, and returns
// the absolute path of their root. Descriptions differ; words such as
// "invoices" and "Lisbon" recur in a known share of them: topics in every
// tenth, places in every seventh.
func Generate(t testing.TB, n int) string {
	t.Helper()
	root := t.TempDir()
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		topic, place := topics[i%len(topics)], places[i%len(places)]
		b := builder{t, filepath.Join(root, name)}
		b.file("SKILL.md", fmt.Sprintf(`---
name: %s
description: Handles %s for the office in %s. Use when somebody asks about %s there.
---

# %s

Note %d: ask the office in %s for the list of %s, then answer.
`, name, topic, place, topic, name, i, place, topic))
	}
	return root
}

var (
	topics = []string{"invoices", "contracts", "travel", "holidays", "hiring", "laptops", "visas", "parking", "training", "translations"}
	places = []string{"Lisbon", "Nairobi", "Osaka", "Kraków", "Quito", "Tromsø", "Hội An"}
)

// builder writes files below one directory. What every platform can do and
// fails all the same fails the test.
type builder struct {
	t   testing.TB
	dir string
}

// path returns the absolute path of a slash-separated one, its parents made.
func (b builder) path(name string) string {
	b.t.Helper()
	full := filepath.Join(b.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		b.t.Fatal(err)
	}
	return full
}

func (b builder) file(name, content string) {
	b.t.Helper()
	if err := os.WriteFile(b.path(name), []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// skill writes the SKILL.md of a skill that is named as its directory.
func (b builder) skill(name, what string) builder {
	b.t.Helper()
	in := builder{b.t, filepath.Join(b.dir, name)}
	in.file("SKILL.md", entry(name, what))
	return in
}

func entry(name, what string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s. Use in tests only.\n---\n\n# %s\n", name, what, name)
}

// try logs what this platform or user could not make.
func (b builder) try(what string, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Logf("testdata: could not make %s: %v", what, err)
	}
}
