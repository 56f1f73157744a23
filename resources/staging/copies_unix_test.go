//go:build unix

package staging_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/resources/internal/filetest"
)

// Links stay links where they lead to what is copied, and whatever leads out,
// or is no regular file, is left out.
func TestCopyOfAHostileSkill(t *testing.T) {
	t.Parallel()
	dir, outside := filetest.Hostile(t)
	for link, target := range map[string]string{
		"node_modules/out": "../../outside", "node_modules/in": "x/y", "later": "out.txt", "intogit": ".git/config", "zz": "zzz/../../outside/secret.txt",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, "docs", "C: drive")); err != nil { // whose name is encoded in the digest
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	var logged bytes.Buffer
	copies, _ := newCopies(t, &logged)
	made := take(t, copies, dir)
	want := []string{
		"SKILL.md", "alias.md", "docs", "docs/.gitignore", "docs/chain.md", "docs/guide.md", "docs/issue-4913", "docs/root", "docs/self",
		"docs/up.md", "docs/v2", "latest", "node_modules", "node_modules/in", "node_modules/x", "node_modules/x/y", "v2", "v2/docs", "v2/notes.md",
	}
	got := listed(t, made.Dir)
	if !slices.Equal(got, want) {
		t.Errorf("the copy holds %q, want %q", got, want)
	}
	for name, want := range map[string]string{"alias.md": "guide", "docs/chain.md": "notes", "latest/notes.md": "notes", "node_modules/in": "y"} {
		if got, err := os.ReadFile(filepath.Join(made.Dir, name)); string(got) != want {
			t.Errorf("%s reads %q, %v", name, got, err)
		}
	}
	for _, name := range got {
		if real, err := filepath.EvalSymlinks(filepath.Join(made.Dir, name)); err != nil || !strings.HasPrefix(real, made.Dir) {
			t.Errorf("%s leads to %s, %v", name, real, err)
		}
	}
	if made.Digest != copyDigest(t, made.Dir) {
		t.Error("the digest is not that of the copy")
	}
	if text := logged.String(); !strings.Contains(text, "left out") || strings.Contains(text, outside) {
		t.Errorf("logged: %s", text)
	}
}

// A file that the server may not read costs no run.
func TestCopyLeavesOutWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "1", "secret": "x", "closed/file": "x"})
	for name, mode := range map[string]os.FileMode{"secret": 0, "closed": 0} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o755) })
	copies, _ := newCopies(t, io.Discard)
	made := take(t, copies, dir)
	if got := listed(t, made.Dir); !slices.Equal(got, []string{"SKILL.md", "closed"}) {
		t.Errorf("the copy holds %q", got)
	}
}

// An edit that keeps size and the time of the last write is seen.
func TestCopySeesEditsThatHide(t *testing.T) {
	t.Parallel()
	dir := filetest.Plant(t, map[string]string{"SKILL.md": "1", "run.sh": "old"})
	host := filepath.Join(dir, "run.sh")
	copies, _ := newCopies(t, io.Discard)
	before := take(t, copies, dir)
	info, err := os.Stat(host)
	if err != nil {
		t.Fatal(err)
	}
	testfiles.Write(t, host, "new")
	if err := os.Chtimes(host, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if after := take(t, copies, dir); after.Digest == before.Digest {
		t.Error("the edit was not seen")
	}
}
