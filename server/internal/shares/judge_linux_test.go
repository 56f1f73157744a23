package shares_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
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
	of := shares.Directory{Path: dir, Mode: shares.Write, Files: []string{"form.pdf"}}
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
