package process

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// WithDefaults returns limits without zero fields.
func WithDefaults(l sandbox.Limits) sandbox.Limits {
	orDefault(&l.Timeout, sandbox.DefaultTimeout)
	orDefault(&l.OutputBytes, sandbox.DefaultOutputBytes)
	orDefault(&l.SpillBytes, sandbox.DefaultSpillBytes)
	orDefault(&l.MemoryBytes, sandbox.DefaultMemoryBytes)
	orDefault(&l.MilliCPUs, sandbox.DefaultMilliCPUs)
	orDefault(&l.Processes, sandbox.DefaultProcesses)
	orDefault(&l.FileBytes, sandbox.DefaultFileBytes)
	orDefault(&l.OpenFiles, sandbox.DefaultOpenFiles)
	orDefault(&l.WorkspaceBytes, sandbox.DefaultWorkspaceBytes)
	orDefault(&l.WorkspaceFiles, sandbox.DefaultWorkspaceFiles)
	return l
}

func orDefault[T cmp.Ordered](limit *T, value T) {
	if zero := *new(T); *limit <= zero {
		*limit = value
	}
}

// checkDirs checks the directories of a run. Errors are of type
// [sandbox.SetupError].
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
		return invalidSpec("the " + which + " directory is not absolute")
	}
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = &os.PathError{Op: "stat", Path: dir, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return sandbox.MissingDir(which, err)
	}
	return nil
}

// invalidSpec returns the [sandbox.SetupError] for what no call can ask for.
func invalidSpec(message string) error {
	return &sandbox.SetupError{Rule: "spec-invalid", Message: message, Hint: "This is a fault of the server, not of the call."}
}

// StartFailed returns the [sandbox.SetupError] for what the system said when the
// program was to be started.
func StartFailed(err error) error {
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
