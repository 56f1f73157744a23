package supervisor

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// patience is how long a supervisor that was told to kill its tree may take
// before it is killed itself.
const patience = 2 * giveUpAfter

// SelfExe starts this very program even where its file was replaced.
const SelfExe = "/proc/self/exe"

// Config is what a supervisor is started with.
type Config struct {
	// Name is the one that [Asked] is asked for.
	Name string
	// Orders fill [Job.Orders].
	Orders wire.Message
	Streams
	// Attr are the attributes of its process.
	Attr *syscall.SysProcAttr
	// ExtraFiles are given to it from [FirstExtraFD] on.
	ExtraFiles []*os.File
	// Placed, if set, is called with the supervisor's process id before it
	// gets its orders.
	Placed func(pid int) error
	// OwnPIDs tells that the supervisor is the first process of a PID
	// namespace: its death is that of its tree.
	OwnPIDs bool
	// Start starts the process. If nil, it is (*exec.Cmd).Start.
	Start func(*exec.Cmd) error
}

// Tree is a supervisor and the processes below it.
type Tree struct {
	config     Config
	supervisor *exec.Cmd
	pipes      *pipes
	// leash is never written after the start; the supervisor kills its tree
	// when the other end closes, by us or by our death.
	leash   *os.File
	reports *os.File

	mu     sync.Mutex
	pid    int // of the program, once it is known
	ended  bool
	lastly *time.Timer // kills the supervisor
}

// Start starts a supervisor and has it start a program. Whether it could is
// for [Tree.Wait] to tell, since from here on the program may be running and
// may have stopped its supervisor. A [StepError] is the supervisor's own.
func Start(config Config) (*Tree, error) {
	t := &Tree{config: config}
	if err := t.startSupervisor(); err != nil {
		return nil, err
	}
	var ready report
	var err error
	if config.Placed != nil {
		err = config.Placed(t.supervisor.Process.Pid)
	}
	if err == nil {
		err = wire.Send(t.leash, config.Orders)
	}
	if err == nil {
		err = wire.Receive(t.reports, &ready)
	}
	if err == nil {
		err = ready.err()
	}
	if err != nil {
		t.Kill()
		t.end()
		return nil, err
	}
	return t, nil
}

func (t *Tree) startSupervisor() error {
	orders, leash, err := os.Pipe()
	if err != nil {
		return err
	}
	reports, reportTo, err := os.Pipe()
	if err != nil {
		return errors.Join(err, orders.Close(), leash.Close())
	}
	t.leash, t.reports = leash, reports
	t.supervisor = &exec.Cmd{
		Path:        SelfExe,
		Args:        []string{t.config.Name},
		Env:         []string{"GOMAXPROCS=1"}, // it mostly waits
		ExtraFiles:  append([]*os.File{orders, reportTo}, t.config.ExtraFiles...),
		SysProcAttr: t.config.Attr,
	}
	start := t.config.Start
	if start == nil {
		start = (*exec.Cmd).Start
	}
	if t.pipes, err = t.config.connect(t.supervisor); err == nil {
		err = start(t.supervisor)
		t.pipes.started(err == nil)
	}
	err = errors.Join(err, orders.Close(), reportTo.Close())
	if err != nil {
		err = errors.Join(err, leash.Close(), reports.Close())
	}
	return err
}

// Kill makes the supervisor kill everything. It may be called at any time,
// more than once, from any goroutine.
func (t *Tree) Kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.lastly != nil {
		return
	}
	t.leash.Close()
	t.lastly = time.AfterFunc(patience, t.killSupervisor)
}

// killSupervisor is for a supervisor that does not work, for example because
// the program has stopped it.
func (t *Tree) killSupervisor() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.supervisor.Process.Kill()
		t.killProgram()
	}
}

// killProgram kills the program's process group, which is as far as one can
// get without a supervisor. The lock is held.
func (t *Tree) killProgram() {
	if t.pid > 0 && !t.config.OwnPIDs {
		unix.Kill(-t.pid, unix.SIGKILL)
	}
}

// Wait returns when the tree is dead and its output is captured. The error
// means that the program was not started.
func (t *Tree) Wait() (Ending, error) {
	defer t.end()
	var begun, last report
	err := wire.Receive(t.reports, &begun)
	if err == nil {
		if err := begun.err(); err != nil {
			return Ending{}, err
		}
		t.mu.Lock()
		t.pid = begun.PID
		t.mu.Unlock()
		err = wire.Receive(t.reports, &last)
	}
	if err != nil { // the supervisor was killed, and the kernel kills the program then
		t.mu.Lock()
		defer t.mu.Unlock()
		t.killProgram()
		return Ending{Signal: unix.SIGKILL, Killed: t.lastly != nil}, nil
	}
	return last.ending(), nil
}

// end waits for the supervisor itself and releases everything.
func (t *Tree) end() {
	io.Copy(io.Discard, t.reports)
	t.supervisor.Wait() // how it ended does not matter: it has reported, or cannot
	t.pipes.drain()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.lastly != nil {
		t.lastly.Stop()
	}
	t.leash.Close()
	t.reports.Close()
}
