// Package advice says what may be behind a program's failure, and how to go
// on. It takes a guess at what commands and outputs mean, and decides nothing.
package advice

import (
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/command"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// maxStrays is how many paths an advice names.
const maxStrays = 2

// Stray is about paths in a shell command that are relative to the skill,
// though the command started in the workspace or in the project. It is empty where there are
// none.
func Stray(spec sandbox.Spec) string {
	if spec.Shell == "" || spec.SkillDir == "" || spec.InSkill {
		return ""
	}
	start, called := spec.Workspace, "workspace"
	if spec.InProject && len(spec.Shares) > 0 {
		start, called = spec.Shares[0].Path, "project"
	}
	here, err := contained.Open(start, contained.Options{Untrusted: true})
	if err != nil {
		return ""
	}
	defer here.Close()
	skill, err := contained.Open(spec.SkillDir, contained.Options{})
	if err != nil {
		return ""
	}
	defer skill.Close()
	var advice []string
	for _, name := range relativePaths(spec.Shell) {
		if _, err := skill.IsDir(name); err != nil {
			continue
		}
		if _, err := here.IsDir(name); err == nil {
			continue
		}
		advice = append(advice, wayTo(spec.SkillDir, name, called))
		if len(advice) == maxStrays {
			break
		}
	}
	return strings.Join(advice, " ")
}

// wayTo says how a program that started elsewhere gets at a file of the skill.
func wayTo(skillDir, name, start string) string {
	var ways []string
	if programs, err := command.Interpreters(skillDir, name); err == nil && programs != nil {
		ways = append(ways, fmt.Sprintf("run it with `script`: %q and `args`", name))
	}
	if !strings.ContainsAny(name, "\"$`\\") {
		ways = append(ways, fmt.Sprintf("write \"$SKILL_DIR/%s\"", name))
	} else {
		ways = append(ways, "start the command with `cwd`: \"skill\"")
	}
	return fmt.Sprintf("%s is in the skill's directory, but the command started in the %s: %s.", display.Path(name), start, strings.Join(ways, ", or "))
}
