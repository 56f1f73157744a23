package sandboxtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// git are the things that people do with repositories.
func git() []contract {
	return []contract{{name: "share-review-git", review: true, test: testShareGit}}
}

func requireGit(t *testing.T, f *fixture) {
	t.Helper()
	_, err := f.backend.Run(t.Context(), sandbox.Spec{Argv: []string{"git", "--version"}, Workspace: t.TempDir()})
	if setup := new(sandbox.SetupError); errors.As(err, &setup) && setup.Rule == "program-missing" {
		testenv.Need(t, "git", err)
	}
}

func testShareGit(t *testing.T, f *fixture) {
	requireGit(t, f)
	p := newProject(t, sample())
	const identity = `git config user.name U && git config user.email u@example.com && `
	p.succeed(t, f, sandbox.AccessReview, `git init -q . && `+identity+`git add . && git commit -qm first`)
	p.succeed(t, f, sandbox.AccessReview, `echo more >> README.md && git commit -qam second && git branch other && git worktree add -q tree other`)
	out := p.succeed(t, f, sandbox.AccessReview, `git log --format=%s && git status --porcelain && git gc -q && git fsck && cd tree && git log -1 --format=%s`)
	if !strings.HasPrefix(out, "second\nfirst\n") || !strings.HasSuffix(out, "second\n") {
		t.Errorf("git says %q", out)
	}
	if held := p.held(t); held[".git/HEAD"] == "" {
		t.Errorf("no repository is held: %q", held)
	}
}
