package docker

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// order checks a spec and gives what the container is told.
func (b *Backend) order(spec sandbox.Spec) (handover.Order, error) {
	if err := checkDir("workspace", spec.Workspace); err != nil {
		return handover.Order{}, err
	}
	if spec.SkillDir != "" {
		if err := checkDir("skill", spec.SkillDir); err != nil {
			return handover.Order{}, err
		}
	}
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
		return handover.Order{}, startFailed(syscall.E2BIG)
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

func checkDir(which, dir string) error {
	if !filepath.IsAbs(dir) {
		return &sandbox.SetupError{
			Rule:    "spec-invalid",
			Message: "the " + which + " directory is not absolute",
			Hint:    "This is a fault of the server, not of the call.",
		}
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "stat", Path: dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return missing(which, err)
	}
	return nil
}

func missing(which string, err error) error {
	return &sandbox.SetupError{
		Rule:    which + "-missing",
		Message: "the " + which + " directory is not there or cannot be opened",
		Hint:    "It may have been removed meanwhile: look again which there are.",
		Err:     err,
	}
}

func startFailed(err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return &sandbox.SetupError{
			Rule:    "arguments-too-long",
			Message: "the arguments are too long for the system",
			Hint:    "Give long data on standard input, or in a file of the workspace.",
			Err:     err,
		}
	}
	return &sandbox.SetupError{
		Rule:    "start-failed",
		Message: "the program could not be started",
		Hint:    "If it is a native executable, it may be built for another system.",
		Err:     err,
	}
}
