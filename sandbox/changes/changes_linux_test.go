package changes_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

func project() map[string]string {
	return map[string]string{
		"README.md": "hello\n", "src/a.go": "package a\n", "src/b.go": "package b\n", "src/deep/c.go": "package c\n",
		"data/x": "x", "data/y": "y", "empty/": "",
	}
}

// want compares a list of lines.
func want(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" && (len(want) > 0 || len(got) > 0) {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// everything is what programs do to a project in one run, in all kinds.
func everything(u upper) {
	u.write("README.md", "hello, world\n")
	u.writeMode("src/b.go", "package b\n", 0o755)
	u.write("src/new.go", "package n\n")
	u.writeMode("docs/deep/report.md", "# Report\n", 0o600)
	u.whiteout("src/a.go")
	u.whiteout("data")
	u.symlink("../README.md", "src/link")
	u.whiteout("src/deep")
	u.check(os.Remove(u.path("src/deep")))
	u.write("src/deep", "now a file")
	u.parents("empty/")
	u.check(os.Chmod(u.path("empty"), 0o700))
}

var everythingHeld = []string{
	"modified -rw-r--r-- README.md", "deleted drwxr-xr-x data", "deleted -rw-r--r-- data/x", "deleted -rw-r--r-- data/y",
	"added drwxr-xr-x docs", "added drwxr-xr-x docs/deep", "added -rw------- docs/deep/report.md", "mode drwx------ empty",
	"deleted -rw-r--r-- src/a.go", "mode -rwxr-xr-x src/b.go", "deleted drwxr-xr-x src/deep", "added -rw-r--r-- src/deep",
	"deleted -rw-r--r-- src/deep/c.go", "added Lrwxrwxrwx src/link", "added -rw-r--r-- src/new.go",
}

func TestEverythingIsHeldAppliedAndUndone(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	before := tree(t, f.project)
	f.run(everything)
	want(t, "before consent", tree(t, f.project), before...)
	held := f.held()
	want(t, "held", summary(held), everythingHeld...)

	outcome := f.apply()
	if len(outcome.Conflicts)+len(outcome.Refused) != 0 || !outcome.Remaining.Empty() || len(outcome.Applied) != len(everythingHeld) {
		t.Errorf("%+v", outcome)
	}
	want(t, "applied", tree(t, f.project),
		`-rw-r--r-- README.md "hello, world\n"`, `drwxr-xr-x docs `, `drwxr-xr-x docs/deep `, `-rw------- docs/deep/report.md "# Report\n"`,
		`drwx------ empty `, `drwxr-xr-x src `, `-rwxr-xr-x src/b.go "package b\n"`, `-rw-r--r-- src/deep "now a file"`,
		`Lrwxrwxrwx src/link ../README.md`, `-rw-r--r-- src/new.go "package n\n"`)
	if left := tree(t, f.upper().dir); len(left) != 0 {
		t.Errorf("left in the set: %q", left)
	}

	list, err := f.store.Applied()
	if err != nil || len(list) != 1 || list[0].ID != outcome.Undo || list[0].Held != held.ID || list[0].Interrupted {
		t.Fatalf("%+v, %v", list, err)
	}
	undone, err := f.store.Undo(t.Context(), outcome.Undo)
	if err != nil || len(undone.Conflicts)+len(undone.Refused) != 0 {
		t.Fatalf("%+v, %v", undone, err)
	}
	want(t, "undone", tree(t, f.project), before...)
	if _, err := f.store.Undo(t.Context(), outcome.Undo); !errors.Is(err, changes.ErrUndone) {
		t.Errorf("a second time: %v", err)
	}
}

func TestWhatIsOnlyTouchedIsNoChange(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) {
		u.write("README.md", "hello\n")
		u.parents("src/deep/")
		u.whiteout("never-there")
	})
	if held := f.held(); !held.Empty() {
		t.Errorf("%q", summary(held))
	}
	// It is what programs saw all the same.
	testfiles.Write(t, filepath.Join(f.project, "README.md"), "by the user\n")
	f.run(func(u upper) { u.write("README.md", "by a program\n") })
	want(t, "held", summary(f.held()), "modified -rw-r--r-- README.md: it was changed since programs saw it")
}

func TestOpaqueDirectoryDeletesWhatIsBelow(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) {
		u.opaque("src")
		u.write("src/a.go", "package other\n")
		u.mkdir("src/deep", 0o755)
	})
	want(t, "held", summary(f.held()), "modified -rw-r--r-- src/a.go", "deleted -rw-r--r-- src/b.go", "deleted -rw-r--r-- src/deep/c.go")
	want(t, "a part", lines(f.apply("src/a.go")), "modified src/a.go")
	want(t, "the rest", summary(f.held()), "deleted -rw-r--r-- src/b.go", "deleted -rw-r--r-- src/deep/c.go")
	want(t, "applied", lines(f.apply()), "deleted src/b.go", "deleted src/deep/c.go")
	if held := f.held(); !held.Empty() || len(tree(t, f.upper().dir)) != 0 {
		t.Errorf("%q, %q", summary(held), tree(t, f.upper().dir))
	}
}

func TestConflicts(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	during := filepath.Join(f.project, "src/b.go")
	f.run(func(u upper) {
		u.write("README.md", "program\n")
		u.write("src/b.go", "program\n")
		u.write("new", "program\n")
		u.write("same", "both\n")
		u.whiteout("data")
		u.write("src/deep/c.go", "fine\n")
		testfiles.Write(t, during, "user, during the run\n")
	})
	testfiles.Write(t, filepath.Join(f.project, "README.md"), "user\n")
	testfiles.Write(t, filepath.Join(f.project, "new"), "user\n")
	testfiles.Write(t, filepath.Join(f.project, "same"), "both\n")
	testfiles.Write(t, filepath.Join(f.project, "data/z"), "user\n")
	want(t, "held", summary(f.held()),
		"modified -rw-r--r-- README.md: it was changed since programs saw it", "deleted drwxr-xr-x data",
		"deleted -rw-r--r-- data/x", "deleted -rw-r--r-- data/y", "added -rw-r--r-- new: it is there now, and was not when programs made it",
		"modified -rw-r--r-- src/b.go: it was changed while programs ran", "modified -rw-r--r-- src/deep/c.go")
	outcome := f.apply()
	want(t, "outcome", lines(outcome),
		"conflict README.md: it was changed since programs saw it",
		"conflict data: the directory holds what stays: what programs did not see, or what was not removed",
		"conflict new: it is there now, and was not when programs made it",
		"conflict src/b.go: it was changed while programs ran",
		"deleted data/x", "deleted data/y", "modified src/deep/c.go")
	want(t, "project", tree(t, f.project),
		`-rw-r--r-- README.md "user\n"`, `drwxr-xr-x data `, `-rw-r--r-- data/z "user\n"`, `drwxr-xr-x empty `, `-rw-r--r-- new "user\n"`,
		`-rw-r--r-- same "both\n"`, `drwxr-xr-x src `, `-rw-r--r-- src/a.go "package a\n"`, `-rw-r--r-- src/b.go "user, during the run\n"`,
		`drwxr-xr-x src/deep `, `-rw-r--r-- src/deep/c.go "fine\n"`)

	// What the user takes back is no conflict any more.
	testfiles.Write(t, filepath.Join(f.project, "README.md"), "hello\n")
	want(t, "once more", lines(f.apply("README.md")), "modified README.md")
}

func TestIDsAreOfOneState(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) { u.write("a", "1"); u.write("b", "1") })
	first := f.held()
	if again := f.held(); again.ID != first.ID {
		t.Errorf("%s and %s", first.ID, again.ID)
	}
	f.run(func(u upper) { u.write("a", "2") })
	var stale *changes.StaleError
	if _, err := f.set.Apply(t.Context(), first.ID, nil, nil); !errors.As(err, &stale) || !errors.Is(err, changes.ErrStale) {
		t.Fatalf("%v", err)
	}
	if stale.Held.ID != f.held().ID || stale.Held.ID == first.ID {
		t.Errorf("%+v", stale.Held)
	}
	second, err := f.set.Apply(t.Context(), stale.Held.ID, []string{"a"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var applied *changes.AppliedError
	if _, err := f.set.Apply(t.Context(), stale.Held.ID, nil, nil); !errors.As(err, &applied) || applied.Undo != second.Undo ||
		applied.Held.ID != second.Remaining.ID {
		t.Errorf("applied twice: %v, %+v", err, applied)
	}
	want(t, "remaining", summary(second.Remaining), "added -rw-r--r-- b")
	for _, id := range []string{"", "cs-", "cs-0123456789abcdef-00000000", "../../etc", "cs-../../../-1"} {
		if _, err := f.set.Apply(t.Context(), id, nil, nil); !errors.Is(err, changes.ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
		if _, err := f.store.Open(id); !errors.Is(err, changes.ErrUnknown) {
			t.Errorf("opening %q: %v", id, err)
		}
	}
	if again, err := f.store.Open(first.ID); err != nil || again.Dir() != f.set.Dir() {
		t.Errorf("%v", err)
	} else {
		again.Close()
	}
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	before := tree(t, f.project)
	f.run(everything)
	held, err := f.set.Discard(t.Context(), f.held().ID, []string{"data/x", "README.md", "docs", "empty", "src/deep"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rest := []string{
		"deleted -rw-r--r-- data/y", "deleted -rw-r--r-- src/a.go", "mode -rwxr-xr-x src/b.go", "added Lrwxrwxrwx src/link", "added -rw-r--r-- src/new.go",
	}
	want(t, "rest", summary(held), rest...)
	f.run(func(upper) {})
	want(t, "rest after a run", summary(f.held()), rest...)
	if held, err = f.set.Discard(t.Context(), held.ID, nil, nil); err != nil || !held.Empty() {
		t.Errorf("%v, %q", err, summary(held))
	}
	want(t, "set", tree(t, f.upper().dir))
	want(t, "project", tree(t, f.project), before...)
}

func TestJudge(t *testing.T) {
	t.Parallel()
	f := setUp(t, map[string]string{".git/config": "[core]\n", "bin/.env": "SECRET", "bin/tool": "x", "g/x": ""})
	judge := func(path string, c changes.Change) string {
		if strings.HasPrefix(path, ".git") || strings.HasSuffix(path, ".env") {
			return "it is protected"
		}
		return ""
	}
	f.run(func(u upper) {
		u.write(".git/hooks/pre-commit", "#!/bin/sh\n")
		u.write(".git/config", "[core]\n\thooksPath = /tmp\n")
		u.whiteout("bin")
		u.symlink(".git/config", "link")
		u.write("fine", "")
	})
	held := f.heldBy(judge)
	want(t, "held", summary(held),
		"deleted drwxr-xr-x bin", "deleted -rw-r--r-- bin/tool", "added -rw-r--r-- fine",
		"! .git/config: it is protected", "! .git/hooks: it is protected", "! .git/hooks/pre-commit: it is protected", "! bin/.env: it is protected",
		"! link: it is a symbolic link to what must not be changed: it is protected")
	outcome, err := f.set.Apply(t.Context(), held.ID, nil, judge)
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(outcome); len(got) != 8 || got[0] != "added fine" {
		t.Errorf("%q", got)
	}
	want(t, "project", tree(t, f.project),
		`drwxr-xr-x .git `, `-rw-r--r-- .git/config "[core]\n"`, `drwxr-xr-x bin `, `-rw-r--r-- bin/.env "SECRET"`, `-rw-r--r-- fine ""`,
		`drwxr-xr-x g `, `-rw-r--r-- g/x ""`)
}

// A directory of which nothing may be applied would be left as an empty one.
func TestNoShellIsApplied(t *testing.T) {
	t.Parallel()
	f := setUp(t, project())
	f.run(func(u upper) {
		u.write("a/.git/hooks/x", "evil")
		u.write("b/.git/hooks/x", "evil")
		u.write("b/fine", "fine")
		u.parents("bare/x")
	})
	judge := func(path string, _ changes.Change) string {
		if strings.Contains(path, "/hooks/") {
			return "it is a hook"
		}
		return ""
	}
	held := f.heldBy(judge)
	want(t, "held", summary(held), "added drwxr-xr-x b", "added -rw-r--r-- b/fine", "added drwxr-xr-x bare",
		"! a: nothing of what is in it can be applied", "! a/.git: nothing of what is in it can be applied",
		"! a/.git/hooks: nothing of what is in it can be applied", "! a/.git/hooks/x: it is a hook",
		"! b/.git: nothing of what is in it can be applied", "! b/.git/hooks: nothing of what is in it can be applied",
		"! b/.git/hooks/x: it is a hook")
	if _, err := f.set.Apply(t.Context(), held.ID, nil, judge); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(f.project, "b", ".git")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a shell was applied: %v", err)
	}
}
