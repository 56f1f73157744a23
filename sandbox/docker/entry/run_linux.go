//go:build amd64 || arm64

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/seccomp"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
)

const (
	// linger is how long the processes that a program leaves behind may go
	// on after its end: enough for the "tee" of "exec > >(tee log)".
	linger = 250 * time.Millisecond
	// killInterval is the time between two rounds of killing.
	killInterval = 2 * time.Millisecond
)

// program is the running program and all that came of it.
type program struct {
	pid    int
	deaths <-chan death
	leash  <-chan struct{}
	quota  quota
	report protocol.Report
	ended  bool
}

type death struct {
	pid    int
	status unix.WaitStatus
	cpu    time.Duration
}

// run runs the program of an order and returns when none of its processes is
// left.
func run(order protocol.Order, stdin []byte, victims victims) protocol.Report {
	quota := newQuota(order) // before the program adds to what there is
	pid, err := start(order, stdin, victims)
	if err != nil {
		return protocol.Report{Errno: errnoOf(err)}
	}
	p := program{pid: pid, deaths: deaths(), leash: leash(), quota: quota}
	p.watch(order.Deadline)
	p.report.PeakMemoryBytes, p.report.OOMKills = memory()
	return p.report
}

// start starts the program on this process's output streams.
func start(order protocol.Order, data []byte, victims victims) (int, error) {
	stdin, err := input(data)
	if err != nil {
		return 0, err
	}
	defer stdin.Close()
	if err := limit(order); err != nil {
		return 0, err
	}
	supervisor.DefaultSignals()
	if err := guardThreads(); err != nil {
		return 0, err
	}
	return victims.start(func() (int, error) {
		return syscall.ForkExec(order.Argv[0], order.Argv, &syscall.ProcAttr{
			Dir:   order.Dir,
			Env:   order.Env,
			Files: []uintptr{stdin.Fd(), 1, 2},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
	})
}

// guardThreads has programs started by this thread not change how this process
// is scheduled. It has all its threads by now.
func guardThreads() error {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	last := 0
	for _, thread := range threads {
		number, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		last = max(last, number)
	}
	return seccomp.Install(seccomp.Guard(last))
}

// limit sets what the engine may not have set: rootless ones cannot. This
// process has the same limits as the program, and needs none of it.
func limit(order protocol.Order) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if order.FileBytes > 0 {
		limits[unix.RLIMIT_FSIZE] = order.FileBytes
	}
	if order.OpenFiles > 0 {
		limits[unix.RLIMIT_NOFILE] = order.OpenFiles
	}
	for resource, value := range limits {
		var have unix.Rlimit
		if err := unix.Getrlimit(resource, &have); err != nil {
			return err
		}
		value = min(value, have.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return err
		}
	}
	return nil
}

// input gives the end of a pipe from which the program reads data.
func input(data []byte) (*os.File, error) {
	if len(data) == 0 {
		return os.Open(os.DevNull)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		defer write.Close()
		write.Write(data) // the program need not read it all
	}()
	return read, nil
}

// leash gives a channel that is closed when the server lets go, or says to
// kill.
func leash() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			fds := []unix.PollFd{{Fd: 0, Events: unix.POLLIN}}
			if n, err := unix.Poll(fds, -1); n > 0 || (err != nil && !errors.Is(err, unix.EINTR)) {
				return
			}
		}
	}()
	return gone
}

// deaths reaps every child. The channel is closed when none is left.
func deaths() <-chan death {
	all := make(chan death)
	go func() {
		defer close(all)
		for {
			var status unix.WaitStatus
			var usage unix.Rusage
			pid, err := unix.Wait4(-1, &status, 0, &usage)
			if err == nil {
				all <- death{pid, status, time.Duration(usage.Utime.Nano() + usage.Stime.Nano())}
			} else if !errors.Is(err, unix.EINTR) {
				return // ECHILD
			}
		}
	}()
	return all
}

// watch returns when no process is left.
func (p *program) watch(deadline time.Duration) {
	expired := time.After(deadline)
	measured := p.quota.interval()
	var lingered, round <-chan time.Time
	for {
		select {
		case d, alive := <-p.deaths:
			if !alive {
				return
			}
			p.report.CPUNanos += int64(d.cpu)
			if d.pid == p.pid {
				p.end(d.status)
				lingered = time.After(linger)
			}
			continue
		case <-p.leash:
			p.leash, p.report.Killed = nil, !p.ended
		case <-expired:
			p.report.Killed = !p.ended
		case <-measured:
			if !p.quota.exceeded() {
				measured = p.quota.interval()
				continue
			}
			measured = nil
			p.report.Killed, p.report.OverQuota = !p.ended, !p.ended
		case <-lingered:
			if !p.report.Killed {
				p.report.SetLeftBehind(supervisor.LeftBehind())
			}
		case <-round:
		}
		unix.Kill(-1, unix.SIGKILL) // all but this process
		round = time.After(killInterval)
	}
}

func (p *program) end(status unix.WaitStatus) {
	p.ended = true
	switch {
	case status.Exited():
		p.report.Code = int32(status.ExitStatus())
	case unix.SignalName(status.Signal()) != "":
		p.report.SetSignal(unix.SignalName(status.Signal()))
	default:
		p.report.SetSignal(fmt.Sprintf("SIG%d", int(status.Signal())))
	}
}

func errnoOf(err error) int32 {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return int32(errno)
	}
	return int32(unix.EIO)
}
