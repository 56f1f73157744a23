package host

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// program is what is started.
type program struct {
	Argv []string // the first is the absolute path of the program
	Env  []string
	Dir  string
}

// program checks a spec and finds what it wants to run.
func (b *Backend) program(spec sandbox.Spec) (program, error) {
	if err := checkDirs(spec); err != nil {
		return program{}, err
	}
	argv, err := spec.CommandLine(spec.SkillDir, b.path.look)
	if err != nil {
		return program{}, err
	}
	env, err := b.environ(spec)
	if err != nil {
		return program{}, err
	}
	dir := spec.Workspace
	if spec.InSkill {
		dir = spec.SkillDir
	}
	return program{Argv: argv, Env: env, Dir: dir}, nil
}

// checkDirs checks the directories of a run.
func checkDirs(spec sandbox.Spec) error {
	if err := checkDir("workspace", spec.Workspace); err != nil {
		return err
	}
	if spec.SkillDir == "" {
		return nil
	}
	return checkDir("skill", spec.SkillDir)
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
		err = &os.PathError{Op: "stat", Path: dir, Err: syscall.ENOTDIR}
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
