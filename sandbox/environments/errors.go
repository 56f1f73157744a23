package environments

import (
	"errors"
	"strings"
)

// The conditions under which there is no environment.
var (
	// ErrNotPrepared means that no environment was made for what is wanted, or
	// that the interpreter that it was made for is another now.
	ErrNotPrepared = errors.New("not prepared")
	// ErrNoEgress means that the sandbox can hold no list of hosts, so that
	// nothing can be downloaded in it.
	ErrNoEgress = errors.New("the sandbox cannot be limited to the hosts of the package index")
	// ErrTooLarge means that the packages take more than [Store.MaxBytes] or
	// [Store.MaxFiles].
	ErrTooLarge = errors.New("the packages take too much space")
	// ErrNoSpace means that the disk is full.
	ErrNoSpace = errors.New("there is no space left for the packages")
	// ErrNoUV means that there is no program uv.
	ErrNoUV = errors.New("there is no program uv")
	// ErrHostile means that what a package holds would reach beyond it.
	ErrHostile = errors.New("the packages hold what no package may")
)

// MissingError means that the sandbox has no program that is needed there.
type MissingError struct {
	// Program is "npm" or "Python".
	Program string
}

func (e *MissingError) Error() string { return "there is no " + e.Program + " in the sandbox" }

// StepError is a step of making an environment that failed.
type StepError struct {
	// Step says what was done: "resolve the Python packages".
	Step string
	// Output is what the program wrote, without credentials: its last lines. It
	// is text of others.
	Output string
	// Status is why it was killed, or empty.
	Status string
}

func (e *StepError) Error() string {
	text := "failed to " + e.Step
	if e.Status != "" {
		text += " (" + e.Status + ")"
	}
	if output := strings.TrimSpace(e.Output); output != "" {
		text += ":\n" + output
	}
	return text
}
