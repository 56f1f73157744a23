//go:build amd64 || arm64

package local

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// startIdle starts a process that does nothing: a supervisor whose orders never
// come. It ends with the pipe by which they would, and so with the server.
func startIdle(start func(*exec.Cmd) (supervisor.Process, error), attr *syscall.SysProcAttr) (pid int, end func(), err error) {
	orders, control, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	idle, err := start(supervisor.Command(jail.Name, attr, orders))
	if err := errors.Join(err, orders.Close()); err != nil {
		return 0, nil, errors.Join(err, control.Close())
	}
	return idle.PID(), sync.OnceFunc(func() {
		idle.Kill()
		control.Close()
		idle.Wait()
	}), nil
}
