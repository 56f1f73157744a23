package changes_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

const wantedDiff = `diff --git a/README.md b/README.md
--- a/README.md
+++ b/README.md
@@ -1 +1 @@
-hello
+hello, world
diff --git a/big b/big
new file mode 100644
Binary files /dev/null and b/big differ
new: 10485760 bytes, sha256:e5b844cc57f57094ea4585e235f36c78c1cd222262bb89d53c94dcb4d6b3e55d
deleted directory data
diff --git a/data/x b/data/x
deleted file mode 100644
--- a/data/x
+++ /dev/null
@@ -1 +0,0 @@
-x
\ No newline at end of file
diff --git a/data/y b/data/y
deleted file mode 100644
--- a/data/y
+++ /dev/null
@@ -1 +0,0 @@
-y
\ No newline at end of file
diff --git a/image b/image
new file mode 100644
Binary files /dev/null and b/image differ
new: 3 bytes, sha256:f5bfcd6eb79ce40652f6d379012a269adb437ce3d91abc2705c9a615c5e4eef4
diff --git a/link b/link
new file mode 120000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+README.md
\ No newline at end of file
diff --git "a/new\nline" "b/new\nline"
new file mode 100644
diff --git a/src/b.go b/src/b.go
old mode 100644
new mode 100755
`

func TestDiff(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) {
		u.write("README.md", "hello, world\n")
		u.whiteout("data")
		u.write("image", " \x00 ")
		u.write("big", "")
		u.check(os.Truncate(u.path("big"), 10<<20))
		u.symlink("README.md", "link")
		u.write("new\nline", "")
		u.writeMode("src/b.go", "package b\n", 0o755)
		u.symlink("/etc/passwd", "refused")
	})
	diff, err := f.set.Diff(t.Context(), changes.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(wantedDiff, diff.Text); d != "" || diff.Omitted != 0 || diff.ID != f.held().ID {
		t.Errorf("%d omitted (-want +got):\n%s", diff.Omitted, d)
	}
	some, err := f.set.Diff(t.Context(), changes.DiffOptions{Paths: []string{"data/x", "src"}, Judge: func(path string, _ changes.Change) string {
		return strings.TrimPrefix(path, "data/x")
	}})
	if err != nil || !strings.HasPrefix(some.Text, "diff --git a/data/x b/data/x\n") || strings.Count(some.Text, "diff --git") != 1 {
		t.Errorf("%v\n%s", err, some.Text)
	}
	short, err := f.set.Diff(t.Context(), changes.DiffOptions{Bytes: 150})
	if err != nil || short.Omitted != 8 || !strings.HasPrefix(wantedDiff, short.Text) || !strings.HasSuffix(short.Text, "\n") || len(short.Text) > 150 {
		t.Errorf("%v, %d omitted\n%s", err, short.Omitted, short.Text)
	}
}

// A file that became another since is compared as it is.
func TestDiffOfWhatTheUserChanged(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) { u.write("README.md", "hello, world\n") })
	testfiles.Write(t, filepath.Join(f.project, "README.md"), "by the user\n")
	diff, err := f.set.Diff(t.Context(), changes.DiffOptions{})
	if err != nil || !strings.Contains(diff.Text, "\n-by the user\n+hello, world\n") {
		t.Errorf("%v\n%s", err, diff.Text)
	}
}

// Git's own tools read the diff, and make of the project what an apply would.
func TestGitReadsTheDiff(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	f := setUp(t, project())
	f.run(func(u upper) {
		u.write("README.md", "hello, world\n")
		u.whiteout("data")
		u.mkdir("new/empty", 0o755)
		u.write("new/file", "1\n")
		u.check(os.Chmod(u.path("new"), 0o700))
		u.writeMode("src/b.go", "package b\n", 0o755)
		u.symlink("README.md", "link")
	})
	diff, err := f.set.Diff(t.Context(), changes.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"new directory new, mode 0700\n", "new directory new/empty, mode 0755\n", "deleted directory data\n"} {
		if !strings.Contains(diff.Text, line) {
			t.Errorf("the diff lacks %q:\n%s", line, diff.Text)
		}
	}
	copied := t.TempDir()
	if err := os.CopyFS(copied, os.DirFS(f.project)); err != nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "apply")
	git.Dir, git.Stdin = copied, strings.NewReader(diff.Text)
	git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(copied))
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v %s\n%s", err, out, diff.Text)
	}
	f.apply()
	without := func(lines []string) []string {
		return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "d") })
	}
	want(t, "project", without(tree(t, f.project)), without(tree(t, copied))...)
}

// Modes are written as people know them.
func TestChangeAsJSON(t *testing.T) {
	t.Parallel()
	for wanted, change := range map[string]changes.Change{
		`{"path":"a","kind":"added","size":2,"digest":"sha256:00","type":"file","mode":"0640"}`: {Path: "a", Kind: changes.Added, Mode: 0o640, Size: 2, Digest: "sha256:00"},
		`{"path":"d","kind":"mode","type":"directory","mode":"0755"}`:                           {Path: "d", Kind: changes.Mode, Mode: os.ModeDir | 0o755},
		`{"path":"l","kind":"added","link":"a","type":"link","mode":"0777"}`:                    {Path: "l", Kind: changes.Added, Mode: os.ModeSymlink | 0o777, Link: "a"},
	} {
		if got, err := json.Marshal(change); err != nil || string(got) != wanted {
			t.Errorf("%s, %v; want %s", got, err, wanted)
		}
	}
}
