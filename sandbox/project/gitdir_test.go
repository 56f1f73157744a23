package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// gitIn runs git with nobody's configuration.
func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	command := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	command.Dir = dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// repositories returns a directory with a repository main, a worktree of it tree,
// and super with main as its submodule sub.
func repositories(t *testing.T) string {
	t.Helper()
	dir := testfiles.Dir(t, map[string]string{"main/file": "text", "super/": "", "plain/": ""})
	in := func(name string) string { return filepath.Join(dir, name) }
	gitIn(t, in("main"), "init", "-q")
	gitIn(t, in("main"), "add", ".")
	gitIn(t, in("main"), "commit", "-qm", "first")
	gitIn(t, in("main"), "worktree", "add", "-q", in("tree"))
	gitIn(t, in("main"), "worktree", "add", "-q", in("main/inner"))
	gitIn(t, in("super"), "init", "-q")
	gitIn(t, in("super"), "submodule", "--quiet", "add", in("main"), "sub")
	return dir
}

func TestGitDirectory(t *testing.T) {
	t.Parallel()
	dir := repositories(t)
	for _, test := range []struct{ project, want string }{
		{"main", ""},
		{"plain", ""},
		{"tree", "main/.git"},
		{"main/inner", "main/.git"},
		{"super", ""},
		{"super/sub", "super/.git/modules/sub"},
	} {
		want := test.want
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got, err := (project.Places{}).GitDirectory(filepath.Join(dir, test.project)); err != nil || got != want {
			t.Errorf("%s: %q, %v", test.project, got, err)
		}
	}
}

// TestGitDirectoryOfOthers: no .git of a project shows a repository that does
// not name it.
func TestGitDirectoryOfOthers(t *testing.T) {
	t.Parallel()
	dir := repositories(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, test := range []struct {
		name, text string
		prepare    func()
	}{
		{"a repository", "gitdir: " + in("main/.git"), nil},
		{"another one's worktree", "gitdir: " + in("main/.git/worktrees/tree"), nil},
		{"another one's submodule", "gitdir: " + in("super/.git/modules/sub"), nil},
		{"no repository", "gitdir: " + in("plain"), nil},
		{"nothing", "gitdir: " + in("gone"), nil},
		{"no file of git's", "text", nil},
		{"an empty one", "", nil},
		{"two lines", "gitdir: " + in("main/.git/worktrees/tree") + "\nx", nil},
		{"one made up", "gitdir: " + in("evil"), func() {
			testfiles.Fill(t, dir, map[string]string{"evil/commondir": in("main/.git"), "evil/gitdir": in("a project/.git"), "evil/HEAD": ""})
		}},
		{"one made up where worktrees are", "gitdir: ../fake/worktrees/x", func() {
			testfiles.Fill(t, dir, map[string]string{"fake/worktrees/x/commondir": "../../../main/.git\n", "fake/worktrees/x/gitdir": in("a project/.git")})
		}},
	} {
		project := project.Places{}
		testfiles.Write(t, in("a project/.git"), test.text)
		if test.prepare != nil {
			test.prepare()
		}
		found, err := project.GitDirectory(in("a project"))
		if found != "" || err == nil {
			t.Errorf("%s: found %v, %v", test.name, found, err)
		}
		wantRule(t, err, "git-directory")
	}
}

func TestGitDirectoryWhereNothingIsShared(t *testing.T) {
	t.Parallel()
	dir := repositories(t)
	tree := filepath.Join(dir, "tree")
	_, err := project.Places{Own: []string{filepath.Join(dir, "main/.git/x")}}.GitDirectory(tree)
	wantRule(t, err, project.RuleOwn)
	_, err = project.Places{Home: filepath.Join(dir, "main/.git")}.GitDirectory(tree)
	wantRule(t, err, project.RuleHome)
	if os.Geteuid() == 0 {
		if err := os.Chown(filepath.Join(dir, "main/.git"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		_, err = project.Places{}.GitDirectory(tree)
		wantRule(t, err, project.RuleGitDirectory)
	}
}
