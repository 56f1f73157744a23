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

// hold starts a process that does nothing: a supervisor that waits for orders
// in vain. It ends with the pipe that they would come by, and so with the
// server.
func hold() (pid int, letGo func(), err error) {
	orders, leash, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	holder := &exec.Cmd{
		Path:        supervisor.SelfExe,
		Args:        []string{jail.Name},
		Env:         []string{"GOMAXPROCS=1"},
		ExtraFiles:  []*os.File{orders},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // no signal of a terminal
	}
	if err := errors.Join(holder.Start(), orders.Close()); err != nil {
		return 0, nil, errors.Join(err, leash.Close())
	}
	return holder.Process.Pid, sync.OnceFunc(func() {
		leash.Close()
		holder.Wait()
	}), nil
}
