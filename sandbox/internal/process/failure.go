package process

import (
	"errors"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// StartFailed gives the [sandbox.SetupError] for what the system said when the
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
