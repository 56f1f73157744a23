package host

import (
	"errors"
	"os/exec"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// pipeDelay is how long one waits for the end of output that is held open by
// something that is no process of the run any more.
const pipeDelay = time.Second

// ending is how a program ended.
type ending struct {
	code   int    // where signal is empty
	signal string // by name
	killed bool   // by kill, before it ended by itself
}

// findExecutable finds the executable file of an absolute path, which on
// Windows may come without its extension.
func findExecutable(path string) (string, bool) {
	found, err := exec.LookPath(path)
	return found, err == nil
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
