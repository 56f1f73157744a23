package docker

import (
	"os"
	"path"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// order finds the program of a spec and gives what the container is told.
func (b *Backend) order(spec sandbox.Spec) (handover.Order, error) {
	argv, err := spec.CommandLine(skillTarget, b.programs.look)
	if err != nil {
		return handover.Order{}, err
	}
	env, err := environ(spec)
	if err != nil {
		return handover.Order{}, err
	}
	dir := workspaceTarget
	if spec.InSkill {
		dir = skillTarget
	}
	order := handover.Order{Dir: dir, Argv: argv, Env: env, Deadline: spec.Limits.Timeout + deadlineGrace}
	if len(order.Encode()) > handover.MaxOrderBytes {
		return handover.Order{}, process.StartFailed(syscall.E2BIG)
	}
	return order, nil
}

// environ gives the environment of one run. Of the server's own environment
// only TZ passes.
func environ(spec sandbox.Spec) ([]string, error) {
	env := map[string]string{
		"HOME":      path.Join(workspaceTarget, scratch.Home),
		"LANG":      "C.UTF-8",
		"LC_ALL":    "C.UTF-8",
		"PATH":      searchPath,
		"TMPDIR":    path.Join(workspaceTarget, scratch.Tmp),
		"WORKSPACE": workspaceTarget,
	}
	if spec.SkillDir != "" {
		env["SKILL_DIR"] = skillTarget
	}
	if zone, set := os.LookupEnv("TZ"); set {
		env["TZ"] = zone
	}
	return spec.Environ(env)
}
