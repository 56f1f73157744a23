package shares_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
)

// newSet returns an empty change set of a directory, and its store.
func newSet(t *testing.T, target changes.Target) (*changes.Set, *changes.Store) {
	t.Helper()
	store, err := changes.Open(filepath.Join(testfiles.Dir(t, nil), "state"), changes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := store.New(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { set.Close() })
	return set, store
}

// A repository of the user's runs code whatever the name of its directory is:
// it is protected like .git.
func TestJudgeOfRepositories(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{
		"in/mirror/HEAD": "ref: refs/heads/main", "in/mirror/objects/": "", "in/mirror/config": "[core]",
		"tree/HEAD": "", "tree/commondir": "../..", "models/objects/a": "", "models/config": "", ".git/HEAD": "", ".git/objects/": "",
	})
	set, _ := newSet(t, changes.Target{Path: dir})
	judge := shares.Judge(paths.Rules{}, set)
	for _, test := range []struct {
		path      string
		kind      changes.Kind
		mode      os.FileMode
		protected bool
	}{
		{"in/mirror/config", changes.Modified, 0o644, true},
		{"in/mirror/hooks/post-update", changes.Added, 0o755, true},
		{"in/mirror/hooks", changes.Deleted, os.ModeDir | 0o755, true},
		{"in/mirror/objects/info/alternates", changes.Added, 0o644, true},
		{"in/mirror/objects/aa/bb", changes.Added, 0o444, false},
		{"in/mirror/objects/aa/bb", changes.Modified, 0o444, true},
		{"in/mirror/refs/heads/main", changes.Modified, 0o644, false},
		{"in/mirror", changes.Deleted, os.ModeDir | 0o755, true},
		{"in/mirror", changes.Added, os.ModeSymlink | 0o777, true},
		{"in/file", changes.Added, 0o644, false},
		{"in", changes.Mode, os.ModeDir | 0o700, false},
		{"tree/gitdir", changes.Modified, 0o644, true},
		{"models/config", changes.Modified, 0o644, false},
		{".git/objects/aa/bb", changes.Added, 0o444, false},
	} {
		if reason := judge(test.path, changes.Change{Path: test.path, Kind: test.kind, Mode: test.mode}); (reason != "") != test.protected {
			t.Errorf("%s %s: %q", test.kind, test.path, reason)
		}
	}
	link := changes.Change{Path: "link", Kind: changes.Added, Mode: os.ModeSymlink | 0o777, Link: "in/mirror/hooks"}
	if reason := judge("in/mirror/hooks", link); reason == "" {
		t.Error("a link may lead to the hooks of a repository")
	}
}

// editedView has the user edit a file as soon as a run has got its copy.
type editedView struct {
	*project.FileView
	edit func()
}

func (v editedView) Acquire(ctx context.Context) (*project.Lease, error) {
	lease, err := v.FileView.Acquire(ctx)
	v.edit()
	return lease, err
}

// What the user edits once a run has a copy of it is a conflict, and stays.
func TestEditAfterTheCopy(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{"form.pdf": "old"})
	file := filepath.Join(dir, "form.pdf")
	_, store := newSet(t, changes.Target{Path: dir})
	view, err := project.NewFileView(t.TempDir(), dir, []string{"form.pdf"})
	if err != nil {
		t.Fatal(err)
	}
	of := shares.Directory{Path: dir, Mode: shares.Write, Rules: func() paths.Rules { return paths.Rules{} }, Files: []string{"form.pdf"}}
	of.View = editedView{view, func() { testfiles.Write(t, file, "mine") }}
	access := shares.New(shares.Options{Others: []shares.Directory{of}, Store: store}, slog.New(slog.DiscardHandler))
	lease, err := access.Lend(t.Context(), workspaces.Workspace{Handle: "ws"}, shares.Author{Skill: "skill"})
	if err != nil {
		t.Fatal(err)
	}
	var spec sandbox.Spec
	lease.Specify(&spec)
	upper := filepath.Join(spec.Shares[0].Changes, sandbox.UpperDir)
	testfiles.Write(t, filepath.Join(upper, "form.pdf"), "theirs")
	testfiles.Write(t, filepath.Join(upper, "neighbour"), "theirs")
	lease.Release()
	report := lease.Report(t.Context(), []sandbox.Shared{{Path: dir, Access: sandbox.AccessReview}})
	if got, err := os.ReadFile(file); err != nil || string(got) != "mine" {
		t.Errorf("the user's edit became %q: %v", got, err)
	}
	if c := report.Changes; c == nil || len(c.Held) != 1 || c.Held[0].Conflict == "" || len(c.Applied) != 0 {
		t.Errorf("reported %+v", c)
	} else if len(c.Refused) != 1 || !strings.Contains(c.Refused[0].Reason, "single files") {
		t.Errorf("what was not shared is refused as %+v", c.Refused)
	}
}

// A history of many refs has its index read once, and again when one of the two
// that are compared is another.
func TestJudgeReadsAnIndexOnce(t *testing.T) {
	const size, refs = 1 << 20, 64
	dir := testfiles.Dir(t, map[string]string{".git/HEAD": "ref: refs/heads/main", ".git/objects/": "", ".git/index": strings.Repeat("x", size)})
	set, _ := newSet(t, changes.Target{Path: dir})
	held := filepath.Join(set.Dir(), sandbox.UpperDir, ".git/index")
	testfiles.Write(t, held, strings.Repeat("y", size))
	judge := shares.Judge(paths.Rules{}, set)
	ask := func(path string) string {
		return judge(path, changes.Change{Path: path, Kind: changes.Added, Mode: 0o644})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range refs {
		if ask(".git/refs/heads/"+strconv.Itoa(i)) == "" {
			t.Fatal("what is no index is applied with a history")
		}
	}
	runtime.ReadMemStats(&after)
	if read := after.TotalAlloc - before.TotalAlloc; read > 16*size {
		t.Errorf("%d refs took %d bytes", refs, read)
	}
	if err := os.Remove(held); err != nil {
		t.Fatal(err)
	}
	if reason := ask(".git/refs/heads/0"); reason != "" {
		t.Errorf("without an index that is held: %s", reason)
	}
}

// A repository elsewhere that belongs to a project is judged by the project's
// rules wherever its changes are applied: its set says which project that is.
func TestSetOfARepositoryNamesItsProject(t *testing.T) {
	t.Parallel()
	worktree, repository := testfiles.Dir(t, map[string]string{"a": ""}), testfiles.Dir(t, map[string]string{"HEAD": ""})
	_, store := newSet(t, changes.Target{Path: worktree})
	var all []shares.Directory
	for _, dir := range []string{worktree, repository} {
		view, err := project.NewView(project.ViewOptions{Dir: dir, Base: t.TempDir(), Hidden: paths.Rules{}.Hidden})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = view.Close() })
		all = append(all, shares.Directory{Path: dir, Mode: shares.Review, View: view})
	}
	all[1].Prefix = shares.GitPrefix
	access := shares.New(shares.Options{Project: all, Store: store}, slog.New(slog.DiscardHandler))
	lease, err := access.Lend(t.Context(), workspaces.Workspace{Handle: "ws"}, shares.Author{})
	if err != nil {
		t.Fatal(err)
	}
	var spec sandbox.Spec
	lease.Specify(&spec)
	for _, share := range spec.Shares {
		testfiles.Write(t, filepath.Join(share.Changes, sandbox.UpperDir, "new"), "x")
	}
	lease.Release()
	held, err := store.List(t.Context())
	if err != nil || len(held) != 2 {
		t.Fatalf("%v, %v", held, err)
	}
	for _, info := range held {
		want := map[string]string{worktree: "", repository: worktree}[info.Target.Path]
		if info.Target.Project != want {
			t.Errorf("%s belongs to %q", info.Target.Path, info.Target.Project)
		}
	}
}
