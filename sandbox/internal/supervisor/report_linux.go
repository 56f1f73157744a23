package supervisor

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// report is what a supervisor says, four times: when it is ready for an order,
// when it is ready to start the program, when it has done so, and when all is
// over.
type report struct {
	Errno   int    // why it goes no further
	Step    string // that failed, where the supervisor names it
	PID     int    // of the program, in the third report
	Status  uint32 // of the program, as wait4 gives it, in the last
	Killed  bool   // the program had not ended when it was killed
	Left    bool   // processes are left that could not be killed
	CPUTime time.Duration
	// LeftBehind and LeftBehindOmitted are as in [Ending].
	LeftBehind        []string
	LeftBehindOmitted int
}

// Fields implements [wire.Message].
func (r *report) Fields(t *wire.Transfer) {
	wire.Int(t, &r.Errno)
	t.String(&r.Step)
	wire.Int(t, &r.PID)
	wire.Int(t, &r.Status)
	t.Bool(&r.Killed)
	t.Bool(&r.Left)
	wire.Int(t, &r.CPUTime)
	t.Strings(&r.LeftBehind)
	wire.Int(t, &r.LeftBehindOmitted)
}

// reportOf gives the report of a step that may have failed.
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

func (r report) ending() Ending {
	status := unix.WaitStatus(r.Status)
	ending := Ending{
		Killed: r.Killed, CPUTime: r.CPUTime,
		LeftBehind: r.LeftBehind, LeftBehindOmitted: r.LeftBehindOmitted,
	}
	if status.Exited() {
		ending.Code = status.ExitStatus()
	} else {
		ending.Signal = status.Signal()
	}
	return ending
}

// StepError names what a supervisor was doing when it failed.
type StepError struct {
	Step string
	Err  error
}

func (e *StepError) Error() string { return e.Step + ": " + e.Err.Error() }

// Unwrap gives the system's error.
func (e *StepError) Unwrap() error { return e.Err }

// Ending is how a program ended.
type Ending struct {
	Code   int            // where Signal is 0
	Signal syscall.Signal // that ended it
	Killed bool           // by Kill, before it ended by itself
	// CPUTime is that of all processes that were waited for.
	CPUTime time.Duration
	// LeftBehind are the names of processes that still ran when the program had
	// come to its end, and LeftBehindOmitted counts those that it leaves out.
	LeftBehind        []string
	LeftBehindOmitted int
}
