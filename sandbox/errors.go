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
//   - skill-missing, workspace-missing, library-missing: a directory is not there
//   - changes-missing: the directory for changes to a share cannot be used
//   - project-missing: the program is to start in a project that is not there
//   - show-missing: one of Spec.Show is not there, or behind a link
//   - show-refused: one of Spec.Show cannot be shown where it is
//   - library-refused: Spec.Library cannot be shown at [LibraryDir]
//   - secret-refused: what was to be given to the program is not for whoever runs it
//   - hosted-refused: who was asked to run it did not
//   - project-busy: another run of the workspace works on the same shares, and
//     Spec.NoWait is set
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

// MissingDir returns the [SetupError] for a directory, the "skill", the
// "workspace", the "project" or that of "changes", that cannot be used.
func MissingDir(which string, err error) error {
	return &SetupError{
		Rule:    which + "-missing",
		Message: "the " + which + " directory is not there or cannot be opened",
		Hint:    "It may have been removed meanwhile: look again which there are.",
		Err:     err,
	}
}

func (e *SetupError) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *SetupError) Unwrap() error { return e.Err }
