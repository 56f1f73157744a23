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
	"sync"
	"testing"

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
	filetest.Write(t, filepath.Join(dir, ".git/config"), "x")
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	got, err := new(resources.Digests).Manifest(t.Context(), filetest.Skill(dir))
	if err != nil {
		t.Fatal(err)
	}
	var want []resources.File
	var bytes int64
	for name, content := range files {
		want = append(want, resources.File{Path: name, Digest: digestOf(content), Size: int64(len(content))})
		bytes += int64(len(content))
	}
	slices.SortFunc(want, func(a, b resources.File) int { return strings.Compare(a.Path, b.Path) })
	if !slices.Equal(got.Files, want) || got.Bytes != bytes {
		t.Errorf("Manifest = %+v, %d bytes; want %+v, %d bytes", got.Files, got.Bytes, want, bytes)
	}
	var lines strings.Builder
	for _, file := range want {
		fmt.Fprintf(&lines, "%s %d %s\n", file.Digest, file.Size, file.Path)
	}
	if want := digestOf(lines.String()); got.Digest != want {
		t.Errorf("the digest is %s, want %s", got.Digest, want)
	}
}

// The digest of a manifest changes with every name, every byte, and every
// file that comes or goes, and with nothing else.
func TestManifestDigest(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "x", "a b": "y"})
	var digests resources.Digests
	seen := map[string]string{}
	digest := func() string {
		t.Helper()
		m, err := digests.Manifest(t.Context(), filetest.Skill(dir))
		if err != nil {
			t.Fatal(err)
		}
		return m.Digest
	}
	changed := func(what string) {
		t.Helper()
		got := digest()
		if before, ok := seen[got]; ok {
			t.Errorf("the digest after %s is that after %s", what, before)
		}
		seen[got] = what
	}
	changed("the start")
	before := digest()
	filetest.Write(t, filepath.Join(dir, "SKILL.md"), "z") // as long, and at once
	changed("another byte")
	filetest.Write(t, filepath.Join(dir, "SKILL.md"), "zz")
	changed("one byte more")
	filetest.Write(t, filepath.Join(dir, "new"), "")
	changed("an empty file more")
	if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "newer")); err != nil {
		t.Fatal(err)
	}
	changed("a new name")
	if err := os.Remove(filepath.Join(dir, "newer")); err != nil {
		t.Fatal(err)
	}
	filetest.Write(t, filepath.Join(dir, "SKILL.md"), "x")
	filetest.Write(t, filepath.Join(dir, "a b~"), "an editor's")
	if after := digest(); after != before {
		t.Error("the digest is not that of the same files before")
	}
}

func TestManifestLimits(t *testing.T) {
	t.Parallel()
	var digests resources.Digests
	files := map[string]string{}
	for i := range resources.MaxSkillFiles {
		files[fmt.Sprintf("d%d/f%d", i%7, i)] = ""
	}
	dir := filetest.Plant(t, files)
	if m, err := digests.Manifest(t.Context(), filetest.Skill(dir)); err != nil || len(m.Files) != resources.MaxSkillFiles {
		t.Errorf("a skill at the limit of files gives %d, %v", len(m.Files), err)
	}
	filetest.Write(t, filepath.Join(dir, "over"), "")
	_, err := digests.Manifest(t.Context(), filetest.Skill(dir))
	wantLimit(t, err, resources.FileLimit)

	half := strings.Repeat("x", resources.MaxSkillBytes/2)
	dir = filetest.Plant(t, map[string]string{"one": half, "two": half})
	if m, err := digests.Manifest(t.Context(), filetest.Skill(dir)); err != nil || m.Bytes != resources.MaxSkillBytes {
		t.Errorf("a skill at the limit of bytes gives %d, %v", m.Bytes, err)
	}
	filetest.Write(t, filepath.Join(dir, "over"), "x")
	_, err = digests.Manifest(t.Context(), filetest.Skill(dir))
	wantLimit(t, err, resources.ByteLimit)

	dir = filetest.Plant(t, nil)
	filetest.Write(t, filepath.Join(dir, "sparse.bin"), "begin")
	if err := os.Truncate(filepath.Join(dir, "sparse.bin"), 1<<30); err != nil {
		t.Skipf("no sparse files here: %v", err)
	}
	_, err = digests.Manifest(t.Context(), filetest.Skill(dir))
	wantLimit(t, err, resources.ByteLimit)
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

// Many may ask at once, with little room, and all get the same.
func TestDigestsConcurrently(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "x", "a": "a", "b": "b", "c": "c"})
	for _, limit := range []int{0, 2, -1} {
		digests := resources.Digests{Max: limit}
		want, err := digests.Manifest(t.Context(), filetest.Skill(dir))
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 20 {
					got, err := digests.Manifest(t.Context(), filetest.Skill(dir))
					if err != nil || got.Digest != want.Digest {
						t.Errorf("Manifest = %v, %v", got, err)
					}
				}
			})
		}
		all.Wait()
	}
}

// wantLimit checks that an error tells of that limit.
func wantLimit(t testing.TB, err error, want resources.Limit) {
	t.Helper()
	var e *resources.LimitError
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want the limit of %s", err, want)
	}
	if e.Limit != want || !strings.Contains(e.Error(), fmt.Sprint(e.Max)) {
		t.Errorf("got %v, want the limit of %s", e, want)
	}
}
