//go:build amd64 || arm64

package local

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// spawner starts processes, all from one thread: a process that asked to die
// with its parent dies with the thread that started it, and Go's threads come
// and go.
type spawner struct {
	work   chan func()
	done   chan struct{}
	closed sync.Once
}

func newSpawner() *spawner {
	s := &spawner{work: make(chan func()), done: make(chan struct{})}
	go s.serve()
	return s
}

func (s *spawner) serve() {
	defer close(s.done)
	runtime.LockOSThread() // until its end, which ends the thread
	for run := range s.work {
		run()
	}
}

// do calls a function on the thread.
func (s *spawner) do(call func() error) error {
	result := make(chan error)
	s.work <- func() { result <- call() }
	return <-result
}

// close ends the thread, and with it all that was started and still is there.
func (s *spawner) close() {
	s.closed.Do(func() { close(s.work) })
	<-s.done
}

// startIdle starts a process that does nothing: a supervisor whose orders never
// come. It ends with the pipe by which they would, and so with the server.
func startIdle(attr *syscall.SysProcAttr) (pid int, end func(), err error) {
	orders, control, err := os.Pipe()
	if err != nil {
		return 0, nil, err
	}
	idle := &exec.Cmd{
		Path:        supervisor.SelfExe,
		Args:        []string{jail.Name},
		Env:         []string{"GOMAXPROCS=1"},
		ExtraFiles:  []*os.File{orders},
		SysProcAttr: attr,
	}
	if err := errors.Join(idle.Start(), orders.Close()); err != nil {
		return 0, nil, errors.Join(err, control.Close())
	}
	return idle.Process.Pid, sync.OnceFunc(func() {
		idle.Process.Kill()
		control.Close()
		idle.Wait()
	}), nil
}
