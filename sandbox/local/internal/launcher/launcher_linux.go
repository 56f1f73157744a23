package launcher

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// answerTimeout is how long a launcher may take to start a process. It takes a
// millisecond; one that takes so long has been stopped.
const answerTimeout = 10 * time.Second

// ErrGone means that the launcher has died, or does not answer, and nothing was
// started by it. Another one is there for the next process.
var ErrGone = errors.New("the launcher is gone")

// Launcher starts processes. The zero value is ready to use: its own process is
// started when it is first needed.
type Launcher struct {
	mu  sync.Mutex
	own *own // nil where there is none
}

// own is a launcher's own process.
type own struct {
	pid     int
	control *os.File
	ended   chan struct{} // closed when it is dead
}

// Start starts a command of [supervisor.Command] whose attributes are among those
// of a [request]. While it starts, the thread that starts it is in the cgroups of
// version 1 that are these directories. An error wraps [ErrGone] or
// the system's.
func (l *Launcher) Start(command *exec.Cmd, threadIn []string) (*Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own == nil {
		var err error
		if l.own, err = spawn(); err != nil {
			return nil, fmt.Errorf("start the launcher: %w", err)
		}
	}
	started, err := l.own.start(command, threadIn)
	if errors.Is(err, ErrGone) {
		l.own.end()
		l.own = nil
	}
	return started, err
}

// PID returns the process id of the launcher's own process, or 0 where there is
// none.
func (l *Launcher) PID() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own == nil {
		return 0
	}
	return l.own.pid
}

// Close ends what was started and still is there, and the launcher's own process.
func (l *Launcher) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.own != nil {
		l.own.end()
		l.own = nil
	}
}

// spawn starts a launcher's own process.
func spawn() (*own, error) {
	control, theirs, err := wire.Pair()
	if err != nil {
		return nil, err
	}
	o := &own{control: control, ended: make(chan struct{})}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // until the process is dead, since it dies with the thread that starts it
		defer close(o.ended)
		command := supervisor.Command(name, &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}, theirs)
		command.Dir = "/" // it holds no directory of the server's
		process, err := supervisor.StartChild(command)
		if err == nil {
			o.pid = process.PID()
		}
		if started <- err; err == nil {
			process.Wait()
		}
	}()
	if err := errors.Join(<-started, theirs.Close()); err != nil {
		return nil, errors.Join(err, o.control.Close())
	}
	return o, nil
}

// start has the process start another one.
func (o *own) start(command *exec.Cmd, threadIn []string) (*Process, error) {
	asked := request{Name: command.Args[0], Env: command.Env, Attr: *command.SysProcAttr, ThreadIn: threadIn}
	var fds []int
	for _, file := range command.ExtraFiles {
		fds = append(fds, int(file.Fd()))
	}
	if asked.Attr.UseCgroupFD {
		fds = append(fds, asked.Attr.CgroupFD)
	}
	err := errors.Join(o.control.SetDeadline(time.Now().Add(answerTimeout)), wire.SendFiles(o.control, 0, fds...))
	if err == nil {
		err = wire.Send(o.control, &asked)
	}
	var got answer
	if err == nil {
		err = wire.Receive(o.control, &got)
	}
	if err == nil && got.Errno != 0 {
		return nil, &startError{got}
	}
	var handle []int
	if err == nil {
		handle, _, err = wire.ReceiveFiles(o.control, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGone, err)
	}
	return &Process{pid: got.PID, handle: os.NewFile(uintptr(handle[0]), "process")}, nil
}

// end kills the process and returns when it is dead.
func (o *own) end() {
	o.control.Close()
	unix.Kill(o.pid, unix.SIGKILL)
	<-o.ended
}
