package supervisor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// SelfExe starts this very program even where its file was replaced.
const SelfExe = "/proc/self/exe"

// ErrGone means that a supervisor died before it could start a program.
var ErrGone = errors.New("the supervisor is gone")

// Config is what a supervisor is started with.
type Config struct {
	// Name is the one that [Asked] is asked for.
	Name string
	// Setting fills [Job.Setting], where the job has one.
	Setting wire.Message
	// Attr are the attributes of its process.
	Attr *syscall.SysProcAttr
	// Placed, if set, is called with the supervisor's process id before it
	// does anything.
	Placed func(pid int) error
	// OwnPIDs reports that the supervisor is the first process of a PID
	// namespace: its death is that of its tree.
	OwnPIDs bool
	// Start starts the process. If nil, it is a child of this one.
	Start func(*exec.Cmd) (Process, error)
}

// Process is the process of a supervisor.
type Process interface {
	PID() int
	Kill()
	// Wait returns when it is dead. Whoever has it calls that once.
	Wait()
}

// child is a child of this process.
type child struct{ *exec.Cmd }

// StartChild starts a process as a child of this one.
func StartChild(command *exec.Cmd) (Process, error) { return child{command}, command.Start() }

func (c child) PID() int { return c.Process.Pid }
func (c child) Kill()    { c.Process.Kill() }
func (c child) Wait()    { c.Cmd.Wait() } // how it ended does not matter

// Supervisor is a supervisor that waits for its order. Whoever has one calls
// either Run or Dismiss, once.
type Supervisor struct {
	config  Config
	process Process
	// control is never written after the order; the supervisor kills its tree
	// when the other end closes, by us or by our death.
	control *os.File
	reports *os.File
}

// Spawn starts a supervisor and returns when it is ready for an order. A
// [StepError] is the supervisor's own.
func Spawn(config Config) (*Supervisor, error) {
	s := &Supervisor{config: config}
	if err := s.start(); err != nil {
		return nil, err
	}
	var err error
	if config.Placed != nil {
		err = config.Placed(s.PID())
	}
	if err == nil && config.Setting != nil {
		err = wire.Send(s.control, config.Setting)
	}
	if err == nil {
		err = s.hear()
	}
	if err != nil {
		s.Dismiss()
		return nil, err
	}
	return s, nil
}

// PID is the process id.
func (s *Supervisor) PID() int { return s.process.PID() }

// start starts the process. Its orders come by a socket, which can carry
// descriptors too.
func (s *Supervisor) start() error {
	control, orders, err := wire.Pair()
	if err != nil {
		return err
	}
	s.control = control
	reports, reportTo, err := os.Pipe()
	if err != nil {
		return errors.Join(err, orders.Close(), s.control.Close())
	}
	s.reports = reports
	start := s.config.Start
	if start == nil {
		start = StartChild
	}
	s.process, err = start(Command(s.config.Name, s.config.Attr, orders, reportTo))
	err = errors.Join(err, orders.Close(), reportTo.Close())
	if err != nil {
		err = errors.Join(err, s.control.Close(), s.reports.Close())
	}
	return err
}

// Command returns one that starts this very program again, by a name, with files
// from descriptor 3 on. Nothing of the environment is its.
func Command(name string, attr *syscall.SysProcAttr, files ...*os.File) *exec.Cmd {
	return &exec.Cmd{
		Path:        SelfExe,
		Args:        []string{name},
		Env:         []string{"GOMAXPROCS=1"}, // it mostly waits
		ExtraFiles:  files,
		SysProcAttr: attr,
	}
}

// hear waits for a report before the program's start.
func (s *Supervisor) hear() error {
	var r report
	if err := wire.Receive(s.reports, &r); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return r.err()
}

// Dismiss ends a supervisor that got no order, and waits for its end.
func (s *Supervisor) Dismiss() {
	s.process.Kill()
	s.process.Wait()
	s.control.Close()
	s.reports.Close()
}
