package resources_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

func digestOf(content string) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(content)))
}

func TestManifest(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"SKILL.md": filetest.EntryDocument("planted"), "a/b.bin": "\x00\x01", "a.txt": "", "nested/SKILL.md": filetest.EntryDocument("nested"),
	}
	dir := filetest.Plant(t, files)
	testfiles.Write(t, filepath.Join(dir, ".git/config"), "x")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := new(resources.Digests).Manifest(t.Context(), filetest.Skill(dir))
	if err != nil {
		t.Fatal(err)
	}
	var want []resources.File
	for name, content := range files {
		want = append(want, resources.File{Path: name, Digest: digestOf(content), Size: int64(len(content))})
	}
	slices.SortFunc(want, func(a, b resources.File) int { return strings.Compare(a.Path, b.Path) })
	if !slices.Equal(got, want) {
		t.Errorf("Manifest = %+v, want %+v", got, want)
	}
}

// A manifest changes with every name, every byte, and every
// file that comes or goes, and with nothing else.
func TestManifestChanges(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "x", "a b": "y"})
	var digests resources.Digests
	seen := map[string]string{}
	manifest := func() string {
		t.Helper()
		m, err := digests.Manifest(t.Context(), filetest.Skill(dir))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(m)
	}
	changed := func(what string) {
		t.Helper()
		got := manifest()
		if before, ok := seen[got]; ok {
			t.Errorf("the manifest after %s is that after %s", what, before)
		}
		seen[got] = what
	}
	changed("the start")
	before := manifest()
	testfiles.Write(t, filepath.Join(dir, "SKILL.md"), "z") // as long, and at once
	changed("another byte")
	testfiles.Write(t, filepath.Join(dir, "SKILL.md"), "zz")
	changed("one byte more")
	testfiles.Write(t, filepath.Join(dir, "new"), "")
	changed("an empty file more")
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "newer")); err != nil {
		t.Fatal(err)
	}
	changed("a new name")
	if err := os.Remove(filepath.Join(dir, "newer")); err != nil {
		t.Fatal(err)
	}
	testfiles.Write(t, filepath.Join(dir, "SKILL.md"), "x")
	testfiles.Write(t, filepath.Join(dir, "a b~"), "an editor's")
	if after := manifest(); after != before {
		t.Error("the manifest is not that of the same files before")
	}
}

func TestManifestLimits(t *testing.T) {
	t.Parallel()
	var digests resources.Digests
	files := map[string]string{}
	for i := range 512 {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = ""
	}
	dir := filetest.Plant(t, files)
	if m, err := digests.Manifest(t.Context(), filetest.Skill(dir)); err != nil || len(m) != 512 {
		t.Errorf("a skill at the limit of files gives %d, %v", len(m), err)
	}
	testfiles.Write(t, filepath.Join(dir, "over"), "")
	_, err := digests.Manifest(t.Context(), filetest.Skill(dir))
	wantLimit(t, err, "512 files")

	half := strings.Repeat("x", 16<<20/2)
	dir = filetest.Plant(t, map[string]string{"one": half, "two": half})
	if m, err := digests.Manifest(t.Context(), filetest.Skill(dir)); err != nil || len(m) != 2 || m[0].Size+m[1].Size != 16<<20 {
		t.Errorf("a skill at the limit of bytes gives %v, %v", m, err)
	}
	testfiles.Write(t, filepath.Join(dir, "over"), "x")
	_, err = digests.Manifest(t.Context(), filetest.Skill(dir))
	wantLimit(t, err, "16777216 bytes")

	dir = filetest.Plant(t, nil)
	testfiles.Write(t, filepath.Join(dir, "sparse.bin"), "begin")
	if err := os.Truncate(filepath.Join(dir, "sparse.bin"), 1<<30); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	_, err = digests.Manifest(t.Context(), filetest.Skill(dir))
	wantLimit(t, err, "16777216 bytes")
}

func TestManifestErrors(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "x"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := new(resources.Digests).Manifest(ctx, filetest.Skill(dir)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled manifest gives %v", err)
	}
	_, err := new(resources.Digests).Manifest(t.Context(), filetest.Skill(filepath.Join(dir, "missing")))
	filetest.WantRule(t, err, contained.NotFound)
}

// wantLimit checks that an error is of that limit.
func wantLimit(t testing.TB, err error, want string) {
	t.Helper()
	var e *resources.LimitError
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want the limit of %s", err, want)
	}
	if e.Error() != "the skill has more than "+want {
		t.Errorf("got %v, want the limit of %s", e, want)
	}
}
