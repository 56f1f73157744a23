package catalog_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// unpackEvil unpacks what breaks a rule of archives, of which nothing may be left.
func unpackEvil(t *testing.T, name, archive, rule string) {
	t.Helper()
	if rule == "archive-empty" {
		return // to unpack other things than skills does no harm
	}
	around := t.TempDir()
	into := filepath.Join(around, "into")
	made, err := catalog.Unpack(archive, into)
	if err == nil || !strings.Contains(err.Error(), "["+rule+"]; ") {
		t.Errorf("%s: %v, want %s", name, err, rule)
	}
	left, listErr := os.ReadDir(into)
	check(t, listErr)
	if len(made) > 0 || len(left) > 0 {
		t.Errorf("%s: made %v and left %v", name, made, left)
	}
	if beside, _ := os.ReadDir(around); len(beside) != 1 {
		t.Errorf("%s: left %v beside", name, beside)
	}
}

// TestUnpackTakesNoPlace: a link where a directory is to be made is there already.
func TestUnpackTakesNoPlace(t *testing.T) {
	t.Parallel()
	into, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(into, "demo")); err != nil {
		t.Skip(err)
	}
	archive := filepath.Join(t.TempDir(), "x.skill")
	check(t, os.WriteFile(archive, []byte(pack(t, member{name: "demo/SKILL.md", text: "x", mode: fs.ModeSetuid | 0o777})), 0o600))
	if _, err := catalog.Unpack(archive, into); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Error(err)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Error("it was written through the link")
	}
}
