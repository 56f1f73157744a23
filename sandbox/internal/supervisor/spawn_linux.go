package supervisor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

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
	// Start starts the process. If nil, it is (*exec.Cmd).Start.
	Start func(*exec.Cmd) error
}

// Supervisor is a supervisor that waits for its order. Whoever has one calls
// either Run or Dismiss, once.
type Supervisor struct {
	config  Config
	process *exec.Cmd
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
func (s *Supervisor) PID() int { return s.process.Process.Pid }

// start starts the process. Its orders come by a socket, which can carry
// descriptors too.
func (s *Supervisor) start() error {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socketpair", err)
	}
	orders := os.NewFile(uintptr(ends[0]), "orders")
	unix.SetNonblock(ends[1], true) // for Go's poller
	s.control = os.NewFile(uintptr(ends[1]), "control")
	reports, reportTo, err := os.Pipe()
	if err != nil {
		return errors.Join(err, orders.Close(), s.control.Close())
	}
	s.reports = reports
	s.process = &exec.Cmd{
		Path:        SelfExe,
		Args:        []string{s.config.Name},
		Env:         []string{"GOMAXPROCS=1"}, // it mostly waits
		ExtraFiles:  []*os.File{orders, reportTo},
		SysProcAttr: s.config.Attr,
	}
	start := s.config.Start
	if start == nil {
		start = (*exec.Cmd).Start
	}
	err = errors.Join(start(s.process), orders.Close(), reportTo.Close())
	if err != nil {
		err = errors.Join(err, s.control.Close(), s.reports.Close())
	}
	return err
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
	s.process.Process.Kill()
	s.process.Wait() // killed
	s.control.Close()
	s.reports.Close()
}
