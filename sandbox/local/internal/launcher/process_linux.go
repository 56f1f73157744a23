package launcher

import (
	"os"

	"golang.org/x/sys/unix"
)

// Process is a process that a launcher has started. It is no child of this one.
type Process struct {
	pid    int
	handle *os.File // a pidfd
}

// PID is the process id.
func (p *Process) PID() int { return p.pid }

// Kill kills the process. It may be called at any time.
func (p *Process) Kill() {
	p.control(func(handle int) { unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0) })
}

// Wait returns when the process is dead. It is called once.
func (p *Process) Wait() {
	p.control(func(handle int) {
		dead := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
		for {
			if _, err := unix.Poll(dead, -1); err != unix.EINTR {
				return
			}
		}
	})
	p.handle.Close()
}

func (p *Process) control(do func(handle int)) {
	if conn, err := p.handle.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) { do(int(fd)) }) // nothing where it is closed
	}
}
