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
	argv, err := spec.CommandLine(handover.SkillDir, b.programs.look)
	if err != nil {
		return handover.Order{}, err
	}
	env, err := environ(spec)
	if err != nil {
		return handover.Order{}, err
	}
	dir := handover.Workspace
	if spec.InSkill {
		dir = handover.SkillDir
	}
	order := handover.Order{
		Dir: dir, Argv: argv, Env: env,
		Deadline:  spec.Limits.Timeout + deadlineGrace,
		FileBytes: uint64(spec.Limits.FileBytes),
		OpenFiles: uint64(spec.Limits.OpenFiles),
		Files:     b.copying,
	}
	if b.copying {
		order.WorkspaceBytes = uint64(spec.Limits.WorkspaceBytes)
		order.WorkspaceFiles = uint64(spec.Limits.WorkspaceFiles)
	}
	if len(order.Encode()) > handover.MaxOrderBytes {
		return handover.Order{}, process.StartFailed(syscall.E2BIG)
	}
	return order, nil
}

// environ gives the environment of one run. Of the server's own environment
// only TZ passes.
func environ(spec sandbox.Spec) ([]string, error) {
	env := map[string]string{
		"HOME":      path.Join(handover.Workspace, scratch.Home),
		"LANG":      "C.UTF-8",
		"LC_ALL":    "C.UTF-8",
		"PATH":      searchPath,
		"TMPDIR":    path.Join(handover.Workspace, scratch.Tmp),
		"WORKSPACE": handover.Workspace,
	}
	if spec.SkillDir != "" {
		env["SKILL_DIR"] = handover.SkillDir
	}
	if zone, set := os.LookupEnv("TZ"); set {
		env["TZ"] = zone
	}
	return spec.Environ(env)
}
