package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/requirement"
)

// advice says what may be behind a program's failure, and how to go on. It is
// empty where nothing is known, and where the program did not fail by itself,
// unless it may have waited for a network.
func (s *Server) advice(ctx context.Context, run staged, workspace workspaces.Workspace, result sandbox.Result) string {
	refused := refusedAdvice(run.spec, result)
	if result.Status != sandbox.Exited || result.ExitCode == 0 {
		return refused
	}
	if stray := s.strayAdvice(run, workspace); stray != "" {
		return stray
	}
	missing := requirement.OfRun(s.requirements.OfCopy(ctx, run.skill, run.copy), run.spec.Script, run.spec.Shell)
	return strings.TrimSpace(requirement.Text(missing) + " " + refused)
}

// tellMissing tells before a run, as progress, what is known to be missing. That
// is no reason to refuse it: a program may find its modules elsewhere, or do
// without.
func (s *Server) tellMissing(ctx context.Context, run staged) {
	report := progressFrom(ctx)
	known, _ := s.requirements.Known(run.copy.Digest)
	if missing := requirement.Text(requirement.OfRun(known, run.spec.Script, run.spec.Shell)); report != nil && missing != "" {
		report(missing)
	}
}

// maxStrays is how many paths an advice names.
const maxStrays = 2

// strayAdvice is about paths in a shell command that are relative to the skill,
// though the command started in the workspace.
func (s *Server) strayAdvice(run staged, workspace workspaces.Workspace) string {
	if run.spec.Shell == "" || run.spec.InSkill {
		return ""
	}
	here, err := contained.Open(workspace.Dir, contained.Options{Untrusted: true})
	if err != nil {
		return ""
	}
	defer here.Close()
	skill, err := contained.Open(run.copy.Dir, contained.Options{})
	if err != nil {
		return ""
	}
	defer skill.Close()
	var advice []string
	for _, name := range relativePaths(run.spec.Shell) {
		if _, err := skill.IsDir(name); err != nil {
			continue
		}
		if _, err := here.IsDir(name); err == nil {
			continue
		}
		advice = append(advice, s.wayTo(run, name))
		if len(advice) == maxStrays {
			break
		}
	}
	return strings.Join(advice, " ")
}

// wayTo says how a program gets at a file of the skill.
func (s *Server) wayTo(run staged, name string) string {
	var ways []string
	if programs, err := command.Interpreters(run.copy.Dir, name); err == nil && programs != nil {
		ways = append(ways, fmt.Sprintf("run it with `script`: %q and `args`", name))
	}
	if !strings.ContainsAny(name, "\"$`\\") {
		ways = append(ways, fmt.Sprintf("write \"$SKILL_DIR/%s\"", name))
	} else {
		ways = append(ways, "start the command with `cwd`: \"skill\"")
	}
	return fmt.Sprintf("%s is in the skill's directory, but the command started in the workspace: %s.", display.Path(name), strings.Join(ways, ", or "))
}
