//go:build unix

package resources_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

// A manifest has the files that are listed, no others.
func TestManifestOfAHostileSkill(t *testing.T) {
	t.Parallel()
	dir, _ := filetest.Hostile(t)
	entries, more, err := filetest.Open(t, dir, contained.Options{}).List(".", 64)
	if err != nil || more {
		t.Fatal(err, more)
	}
	var want []string
	for _, entry := range entries {
		if !entry.Dir {
			want = append(want, entry.Path)
		}
	}
	manifest, err := new(resources.Digests).Manifest(t.Context(), filetest.Skill(dir))
	if err != nil {
		t.Fatal(err)
	}
	var digested []string
	for _, file := range manifest {
		digested = append(digested, file.Path)
	}
	if !slices.Equal(digested, want) {
		t.Errorf("the manifest has:\n%s\nwant:\n%s", strings.Join(digested, "\n"), strings.Join(want, "\n"))
	}
}

func TestManifestLeavesOutWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "x", "closed.md": "x", "closed/file": "x"})
	for _, name := range []string{"closed.md", "closed"} {
		host := filepath.Join(dir, name)
		if err := os.Chmod(host, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(host, 0o755) })
	}
	manifest, err := new(resources.Digests).Manifest(t.Context(), filetest.Skill(dir))
	if err != nil || len(manifest) != 1 {
		t.Errorf("Manifest = %v, %v", manifest, err)
	}
}

// Names are bytes on most Unix systems. They are listed, have a URI, and are
// read by it.
func TestNamesOfAnyBytes(t *testing.T) {
	t.Parallel()
	names := []string{
		"line\nbreak", "tab\t", "esc\x1b[31m", "del\x7f", "50%", "%41", "a?b", "a#b", "a b", " ", "[x]", "{x}", "a&b=c;d", "a+b",
		"it's", "\"quoted\"", "<tag>", "größe", "日本語.md", "e\u0301", "\u202Ertl", "👩‍💻", "...", "..a", "-rf", "$HOME", "ab:c@d e",
		strings.Repeat("x", 255), "sub dir#/f?%",
	}
	if runtime.GOOS != "darwin" {
		names = append(names, "latin\xe9", "\xff\xfe", "half\xe2\x82")
	}
	root := filetest.Plant(t, map[string]string{"planted/SKILL.md": filetest.EntryDocument("planted")})
	s := snapshot(t, catalog.Root{Path: root})
	planted, ok := s.Lookup("planted")
	if !ok {
		t.Fatal("the skill is not published")
	}
	for _, name := range names {
		testfiles.Write(t, filepath.Join(planted.Dir, name), "content of "+name)
	}
	opened := filetest.Open(t, planted.Dir, contained.Options{Entry: planted.Entry})
	entries, _, err := opened.List(".", 2)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, entry := range entries {
		if entry.Dir || entry.Path == "SKILL.md" {
			continue
		}
		roundTrip(t, s, planted, entry.Path)
		_, file, err := resources.Resolve(s, resources.URI(planted, entry.Path))
		if err != nil {
			t.Error(err)
			continue
		}
		content, err := filetest.Read(opened, file, contained.Range{})
		if err != nil || string(content.Data) != "content of "+entry.Path {
			t.Errorf("%q gives %q, %v", entry.Path, content.Data, err)
		}
		read++
	}
	if read != len(names) {
		t.Errorf("%d of %d names were listed: %+v", read, len(names), entries)
	}
}

// However a name is swapped meanwhile, nothing outside is digested.
func TestSwapWhileDigesting(t *testing.T) {
	t.Parallel()
	dir := filetest.Swapping(t)
	digests := new(resources.Digests)
	secretDigest := digestOf(filetest.Secret)
	for range 50 {
		manifest, err := digests.Manifest(t.Context(), filetest.Skill(dir))
		if err != nil && filetest.RuleOf(err) == "" {
			t.Fatal(err)
		}
		for _, file := range manifest {
			if file.Digest == secretDigest {
				t.Fatalf("the manifest has the digest of what lies outside for %s", file.Path)
			}
		}
	}
}
