//go:build amd64 || arm64

package local

import (
	"os/exec"
	"runtime"
	"sync"
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

// start starts a command.
func (s *spawner) start(command *exec.Cmd) error { return s.do(command.Start) }

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
