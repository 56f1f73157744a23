//go:build unix

package contained_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

// TestWithheld: what is withheld is neither read nor listed, by its own name nor
// through links, nor by who copies the directory.
func TestWithheld(t *testing.T) {
	t.Parallel()
	path := filetest.Plant(t, map[string]string{"SKILL.md": "1", "a.txt": "1", "d/.env": "secret", "d/b.txt": "1", "keys/k": "secret"})
	for link, target := range map[string]string{
		"env.txt": "d/.env", "d/up": "../keys/k", "more": "keys", "chain": "env.txt", "d/round": "../d/../d/.env", "fine": "d/b.txt", "self": "self",
	} {
		if err := os.Symlink(target, filepath.Join(path, link)); err != nil {
			t.Fatal(err)
		}
	}
	options := contained.Options{Withheld: func(path string) bool {
		return path == "d/.env" || path == "keys" || strings.HasPrefix(path, "keys/")
	}}
	dir := filetest.Open(t, path, options)
	for name, served := range map[string]bool{
		"a.txt": true, "d/b.txt": true, "fine": true, "d": true,
		"d/.env": false, "keys": false, "keys/k": false, "env.txt": false, "d/up": false, "more": false, "more/k": false, "chain": false, "d/round": false, "self": false,
	} {
		_, err := dir.IsDir(name)
		if served && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !served && filetest.RuleOf(err) != contained.NotFound && name != "self" {
			t.Errorf("%s: %v", name, err)
		}
	}
	walked := func(dir *contained.Dir) string {
		var found []string
		if _, err := dir.Walk(func(clean string, info fs.FileInfo) error { found = append(found, clean); return nil }); err != nil {
			t.Fatal(err)
		}
		return strings.Join(found, " ")
	}
	if got := walked(dir); got != "SKILL.md a.txt d d/b.txt fine" {
		t.Errorf("served: %s", got)
	}
	options.Runnable = true
	if got := walked(filetest.Open(t, path, options)); got != "SKILL.md a.txt d d/b.txt fine self" {
		t.Errorf("for programs: %s", got)
	}
}
