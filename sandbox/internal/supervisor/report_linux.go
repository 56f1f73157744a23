package supervisor

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// report is what a supervisor says, four times: when it is ready for an order,
// when it is ready to start the program, when it has done so, and when all is
// over.
type report struct {
	Errno         int    // why it goes no further
	Step          string // that failed, where the supervisor names it
	PID           int    // of the program, in the third report
	Left          bool   // processes are left that could not be killed
	Working       bool   // it is killing, and the last report follows
	reaper.Ending        // of the program, in the last
}

// Fields implements [wire.Message].
func (r *report) Fields(t *wire.Transfer) {
	wire.Int(t, &r.Errno)
	t.String(&r.Step)
	wire.Int(t, &r.PID)
	t.Bool(&r.Left)
	t.Bool(&r.Working)
	r.Ending.Fields(t)
}

// reportOf returns the report of a step that may have failed.
func reportOf(err error) report {
	if err == nil {
		return report{}
	}
	r := report{Errno: int(unix.EINVAL)}
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		r.Errno = int(errno)
	}
	if step := new(StepError); errors.As(err, &step) {
		r.Step = step.Step
	}
	return r
}

func (r report) err() error {
	switch {
	case r.Errno == 0:
		return nil
	case r.Step != "":
		return &StepError{Step: r.Step, Err: syscall.Errno(r.Errno)}
	}
	return syscall.Errno(r.Errno)
}

// StepError names what a supervisor was doing when it failed.
type StepError struct {
	Step string
	Err  error
}

func (e *StepError) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap returns the system's error.
func (e *StepError) Unwrap() error { return e.Err }
