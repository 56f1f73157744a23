package supervisor

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// killTimeout is how long a supervisor that was told to kill its tree may take
// before it is killed itself, each time that it says that it is working.
const killTimeout = 2 * giveUpAfter

// Tree is a supervisor and the processes below it.
type Tree struct {
	*Supervisor
	// Returned are the descriptors that [Job.Prepare] returned. They are the
	// caller's.
	Returned []*os.File
	pipes    *pipes

	mu     sync.Mutex
	pid    int // of the program, once it is known
	ended  bool
	lastly *time.Timer // kills the supervisor
}

// Run has the supervisor start a program. Whether it could is for [Tree.Wait]
// to tell, since from here on the program may be running and may have stopped
// its supervisor. A [StepError] is the supervisor's own; the error is
// [ErrGone] where it was dead, and nothing was started.
func (s *Supervisor) Run(order Order) (*Tree, error) {
	pipes, err := order.connect()
	if err != nil {
		s.Dismiss()
		return nil, err
	}
	err = order.send(s.control, pipes.theirs)
	pipes.given(err == nil)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrGone, err)
	} else {
		err = s.hear()
	}
	var returned []*os.File
	if err == nil {
		returned, err = receiveReturned(s.control, order.Returns)
	}
	if err != nil {
		s.Dismiss()
		pipes.drain()
		return nil, err
	}
	return &Tree{Supervisor: s, Returned: returned, pipes: pipes}, nil
}

// Kill makes the supervisor kill everything. It may be called at any time,
// more than once, from any goroutine.
func (t *Tree) Kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended || t.lastly != nil {
		return
	}
	t.control.Close()
	t.lastly = time.AfterFunc(killTimeout, t.killSupervisor)
}

// killSupervisor is for a supervisor that does not work, for example because
// the program has stopped it.
func (t *Tree) killSupervisor() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.process.Kill()
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

// Wait returns when all processes of the program are dead and its output is
// captured. The error means that the program was not started. Afterwards
// [Tree.Close] must be called.
func (t *Tree) Wait() (reaper.Ending, error) {
	defer t.pipes.drain()
	var begun, last report
	err := wire.Receive(t.reports, &begun)
	if err == nil {
		if err := begun.err(); err != nil {
			return reaper.Ending{}, err
		}
		t.mu.Lock()
		t.pid = begun.PID
		t.mu.Unlock()
		err = t.receiveLast(&last)
	}
	if err != nil { // the supervisor was killed, and the kernel kills the program then
		t.mu.Lock()
		t.killProgram()
		last = report{Ending: reaper.Ending{Signal: "SIGKILL", Killed: t.lastly != nil}}
		t.mu.Unlock()
	}
	if err != nil || last.Left {
		t.Close()
	}
	return last.Ending, nil
}

// receiveLast receives the report of the end. A supervisor that is killing gets
// more time.
func (t *Tree) receiveLast(last *report) error {
	for {
		*last = report{}
		if err := wire.Receive(t.reports, last); err != nil || !last.Working {
			return err
		}
		t.mu.Lock()
		if t.lastly != nil {
			t.lastly.Reset(killTimeout)
		}
		t.mu.Unlock()
	}
}

// Close returns when the supervisor itself is dead and everything is released.
// It takes the kernel a while to take namespaces apart.
func (t *Tree) Close() {
	io.Copy(io.Discard, t.reports)
	t.process.Wait() // it has reported, or cannot
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.lastly != nil {
		t.lastly.Stop()
	}
	t.control.Close()
	t.reports.Close()
}
