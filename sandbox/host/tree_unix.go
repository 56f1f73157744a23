//go:build unix && !linux

package host

import (
	"os/exec"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/host/internal/child"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
)

const bounded = "time, output and the life of their process group are bounded, and a process that leaves its group goes on"

// tree is a program and its process group.
type tree struct {
	command *exec.Cmd
	killed  atomic.Bool
}

func prepare() error { return child.CloseOnExec("/dev/fd") }

// start starts a program in a session of its own. Errors are of type
// [sandbox.SetupError].
func (starter) start(what child.Order, s *process.Streams) (process.Tree, error) {
	command := commandOf(what, s)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := command.Start(); err != nil {
		return nil, process.StartFailed(err)
	}
	return &tree{command: command}, nil
}

// Kill kills the process group. It may be called at any time, more than once,
// from any goroutine.
func (t *tree) Kill() {
	t.killed.Store(true)
	t.killGroup()
}

func (t *tree) killGroup() { unix.Kill(-t.command.Process.Pid, unix.SIGKILL) }

// Wait returns when the program has ended, its group is dead and its output
// is captured. The children that it leaves behind may go on with its output
// for as long as pipeDelay. There is no error.
func (t *tree) Wait() (process.Ending, error) {
	t.command.Wait() // how it ended is in ProcessState
	t.killGroup()
	ending := reaper.EndingOf(t.command.ProcessState.Sys().(syscall.WaitStatus))
	ending.Killed = t.killed.Load()
	return process.Ending{Ending: ending}, nil
}
