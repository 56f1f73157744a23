package project_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
)

// TestHooks: whatever may lead git to hooks in the project is known, and nothing
// else of it.
func TestHooks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		files map[string]string // of PROJECT/ and HOME/
		want  string
	}{
		"none":          {map[string]string{"PROJECT/.git/config": "[core]\n\tbare = false\n"}, ""},
		"relative":      {map[string]string{"PROJECT/.git/config": "[core]\n\thooksPath = tools/hooks\n"}, "tools/hooks"},
		"other letters": {map[string]string{"PROJECT/.git/config": "[CORE]\nHOOKSPATH=./tools//hooks/\n"}, "tools/hooks"},
		"quoted":        {map[string]string{"PROJECT/.git/config": "[core]\nhooksPath = \"my hooks\" ; ours\n"}, "my hooks"},
		"absolute":      {map[string]string{"PROJECT/.git/config": "[core]\nhooksPath = PROJECT/h\n"}, "h"},
		"outside":       {map[string]string{"PROJECT/.git/config": "[core]\nhooksPath = /etc/hooks\n"}, ""},
		"up":            {map[string]string{"PROJECT/.git/config": "[core]\nhooksPath = ../hooks\n"}, ""},
		"of the user":   {map[string]string{"HOME/.gitconfig": "[core]\nhooksPath = .hooks\n"}, ".hooks"},
		"at home":       {map[string]string{"HOME/.gitconfig": "[core]\nhooksPath = ~/hooks\n"}, ""},
		"included":      {map[string]string{"PROJECT/.git/config": "[include]\npath = ../more\n", "PROJECT/more": "[core]\nhooksPath = h\n"}, "h"},
		"on a condition": {map[string]string{
			"HOME/.gitconfig": "[includeIf \"gitdir:~/work/\"]\npath = work.inc\n", "HOME/work.inc": "[core]\nhooksPath = h\n"}, "h"},
		"of a worktree": {map[string]string{
			"PROJECT/.git": "gitdir: HOME/repo/worktrees/w\n", "HOME/repo/worktrees/w/commondir": "../..\n",
			"HOME/repo/worktrees/w/config.worktree": "[core]\nhooksPath = b\n", "HOME/repo/config": "[core]\nhooksPath = a\n"}, "a b"},
		"several":   {map[string]string{"PROJECT/.git/config": "[core]\nhooksPath = a\nhooksPath = b\n[core]\nhooksPath = a\n"}, "a b"},
		"a circle":  {map[string]string{"PROJECT/.git/config": "[core]\nhooksPath = a\n[include]\npath = config\n"}, "a"},
		"no config": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := testfiles.Dir(t, map[string]string{"PROJECT/": "", "HOME/": ""})
			dir, home := filepath.Join(top, "PROJECT"), filepath.Join(top, "HOME")
			for name, text := range test.files {
				testfiles.Write(t, filepath.Join(top, name), strings.NewReplacer("PROJECT", dir, "HOME", home).Replace(text))
			}
			if got := strings.Join(project.Hooks(dir, home, filepath.Join(home, ".gitconfig")), " "); got != test.want {
				t.Errorf("hooks are %q, want %q", got, test.want)
			}
		})
	}
}

// TestHooksAtTheTop: where the whole worktree is the place of hooks, those are its
// hooks that git has names for.
func TestHooksAtTheTop(t *testing.T) {
	t.Parallel()
	dir := testfiles.Dir(t, map[string]string{".git/config": "[core]\nhooksPath = .\n"})
	if hooks := project.Hooks(dir, ""); !slices.Contains(hooks, "pre-commit") || slices.Contains(hooks, ".") {
		t.Errorf("hooks are %q", hooks)
	}
}

// TestHooksThatGitRuns: git itself runs what is there.
func TestHooksThatGitRuns(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir := testfiles.Dir(t, nil)
	git := func(args ...string) string {
		command := exec.Command("git", args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	git("config", "core.hooksPath", "tools/hooks")
	hooks := project.Hooks(dir, "")
	if len(hooks) != 1 {
		t.Fatalf("hooks are %q", hooks)
	}
	hook := filepath.Join(dir, hooks[0], "pre-commit")
	testfiles.Write(t, hook, "#!/bin/sh\necho it ran\n")
	if err := os.Chmod(hook, 0o755); err != nil {
		t.Fatal(err)
	}
	if out := git("commit", "--allow-empty", "-m", "x"); !strings.Contains(out, "it ran") {
		t.Errorf("git did not run the hook: %s", out)
	}
}
