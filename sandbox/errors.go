package sandbox

import "errors"

// ErrUnavailable means that nothing can be run at all.
var ErrUnavailable = errors.New("sandbox unavailable")

// SetupError means that a run could not be started.
//
// The rules are:
//
//   - spec-invalid: the [Spec] contradicts itself
//   - env-reserved, env-invalid: a name in Spec.Env cannot be set
//   - skill-missing, workspace-missing: a directory is not there
//   - workspace-unusable: the workspace cannot hold what a run needs
//   - script-missing, script-not-file: Spec.Script names no regular file
//   - interpreter-unknown: nothing tells what runs the script
//   - interpreter-missing, program-missing: what is to run is not installed
//   - arguments-too-long: the system refused the size of the command line
//   - start-failed: the system refused to start the program
//   - setup-failed: the sandbox itself could not be set up
type SetupError struct {
	// Rule is a stable kebab-case name, such as "interpreter-missing".
	Rule string
	// Message says what is wrong, without host paths.
	Message string
	// Hint says what to do next.
	Hint string
	// Err is the cause for the log; it may name host paths.
	Err error
}

func (e *SetupError) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *SetupError) Unwrap() error { return e.Err }
