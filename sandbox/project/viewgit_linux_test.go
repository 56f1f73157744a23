package project_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// TestViewOfRepositories: git's configurations are shown without credentials,
// wherever repositories are, and all else of them as it is.
func TestViewOfRepositories(t *testing.T) {
	t.Parallel()
	dir := repositories(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	gitIn(t, dir, "clone", "-q", "--bare", in("main"), in("bare"))
	gitIn(t, in("main"), "config", "extensions.worktreeConfig", "true")
	gitIn(t, in("tree"), "config", "--worktree", "http.extraHeader", "SECRET")
	gitIn(t, in("main"), "branch", "config")
	for _, repository := range []string{"main", "super/sub", "super", "bare"} {
		gitIn(t, in(repository), "config", "http.extraHeader", "SECRET")
	}
	testfiles.Write(t, in("plain/config"), "token = SECRET of another program\n")
	lease := wantMasked(t, newView(t, project.ViewOptions{Dir: dir}),
		"bare/config", "main/.git/config", "main/.git/worktrees/tree/config.worktree", "super/.git/config", "super/.git/modules/sub/config")
	for name, text := range seen(t, lease) {
		if strings.Contains(text, "SECRET") || text == "whiteout" || name != "main/.git/worktrees/tree/config.worktree" && !strings.Contains(text, "bare = ") {
			t.Errorf("%s is %q", name, text)
		}
	}
	for _, masked := range lease.Masked {
		if !masked.Replaced || !strings.Contains(masked.Reason, "without credentials") {
			t.Errorf("%+v", masked)
		}
	}
	// A repository that is shared by itself, for a worktree elsewhere.
	wantMasked(t, newView(t, project.ViewOptions{Dir: in("main/.git")}), "config", "worktrees/tree/config.worktree")
}

// wantMasked acquires a lease and compares the paths that are masked.
func wantMasked(t *testing.T, view *project.View, want ...string) *project.Lease {
	t.Helper()
	lease := acquire(t, view)
	var got []string
	for _, masked := range lease.Masked {
		got = append(got, masked.Path)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("masked are %q, want %q", got, want)
	}
	return lease
}

// TestViewOfOddConfigurations: what is no configuration is not shown as one, and
// that of a repository that lacks the rest is.
func TestViewOfOddConfigurations(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{
		"a/HEAD": "", "a/objects/": "", "a/config": "[a]\n\tx = y\n" + strings.Repeat("# long\n", 1<<18),
		"b/HEAD": "", "b/objects/": "", "b/config/": "", "c/HEAD": "", "c/config": "token = SECRET",
		"damaged/.git/config": "[http]\n\textraHeader = SECRET\n[core]\n\tbare = false\n",
	})
	wantSeen(t, newView(t, project.ViewOptions{Dir: dir}), map[string]string{
		"a/config": "whiteout", "damaged/.git/config": "[http]\n\t[core]\n\tbare = false\n",
	})
}
