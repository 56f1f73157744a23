package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
)

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		testenv.Need(t, "git", err)
	}
}

// Of the user's configuration the name and the address are read, by way of what
// it includes for a directory; of the repository nothing is.
func TestReadGitUser(t *testing.T) {
	needGit(t)
	home, project := t.TempDir(), filepath.Join(t.TempDir(), "work", "project")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("GIT_AUTHOR_NAME", "of the environment")
	testfiles.Write(t, filepath.Join(project, "file"), "")
	if got := command.ReadGitUser(t.Context(), project); got != (command.GitUser{}) {
		t.Errorf("without a configuration: %+v", got)
	}
	testfiles.Write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = U \\\"ser\\\" ; comment\n\temail = u@example.com\n\tsigningkey = secret\n"+
		"[includeIf \"gitdir:"+filepath.Dir(project)+"/\"]\n\tpath = work.inc\n")
	testfiles.Write(t, filepath.Join(home, "work.inc"), "[user]\n\temail = u@work.example.com\n")
	want := command.GitUser{Name: `U "ser"`, Email: "u@example.com"}
	if got := command.ReadGitUser(t.Context(), project); got != want {
		t.Errorf("outside of a repository: %+v", got)
	}
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	testfiles.Write(t, filepath.Join(project, ".git", "config"), "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch ran\n[user]\n\temail = repository@example.com\n")
	want.Email = "u@work.example.com"
	if got := command.ReadGitUser(t.Context(), project); got != want {
		t.Errorf("in the repository: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(project, "ran")); err == nil {
		t.Error("the repository had a program run")
	}
	testfiles.Write(t, filepath.Join(home, ".gitconfig"), "[user]\n\tname = \"a\\nb\"\n\temail = "+strings.Repeat("x", 300)+"\n")
	if got := command.ReadGitUser(t.Context(), home); got != (command.GitUser{}) {
		t.Errorf("what cannot be a name: %+v", got)
	}
}

// What is written for git it reads as what was meant, whatever is in a name.
func TestGitConfig(t *testing.T) {
	needGit(t)
	for _, user := range []command.GitUser{
		{}, {Name: "U"}, {Email: "u@example.com"},
		{Name: `a "b" \c # d ; e [f] =`, Email: "ü@exämple.com"},
	} {
		file := filepath.Join(t.TempDir(), "config")
		testfiles.Write(t, file, user.Config())
		for key, want := range map[string]string{"user.name": user.Name, "user.email": user.Email, "safe.directory": "*"} {
			out, err := exec.Command("git", "config", "--file", file, "--get", key).Output()
			if got := strings.TrimSuffix(string(out), "\n"); got != want || (err != nil) != (want == "") {
				t.Errorf("%+v: %s is %q, %v, want %q", user, key, got, err, want)
			}
		}
	}
}
