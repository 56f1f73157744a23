package host

import (
	"encoding/gob"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// supervisorName is the name by which this program knows that it is to
	// be a supervisor.
	supervisorName = "skills-mcp-supervisor"
	// linger is how long the children that a program leaves behind may go
	// on after its end: enough for the "tee" of "exec > >(tee log)", also on
	// a busy machine.
	linger = 250 * time.Millisecond
	// killInterval is the time between two rounds of killing.
	killInterval = 2 * time.Millisecond
	// giveUpAfter is how long one tries to kill what does not die, such as
	// processes of another user.
	giveUpAfter = 2 * time.Second
	// openFiles is RLIMIT_NOFILE of programs.
	openFiles = 4096
)

// A supervisor is this same binary, started again. It must take over before
// main, and before the init functions of packages that need this one: any
// program that can start a supervisor then is one, without a hook in main
// that can be forgotten.
func init() {
	if len(os.Args) == 1 && os.Args[0] == supervisorName {
		syscall.Exit(supervise()) // at once, without the hooks of os.Exit
	}
}

// supervisor is the process between the server and a program. It is the
// program's parent and, as a child subreaper, inherits every orphan below it:
// when it has no child left, no process of the run is left.
type supervisor struct {
	pid    int // of the program
	leash  <-chan struct{}
	deaths <-chan death

	status unix.WaitStatus // of the program, once it has ended
	ended  bool
	killed bool // before it had ended
}

type death struct {
	pid    int
	status unix.WaitStatus
}

// supervise reads a [program] from descriptor 3, starts it, returns when all
// its processes are dead, and writes every [report] to descriptor 4.
func supervise() int {
	// The program dies with the thread that starts it (PDEATHSIG).
	runtime.LockOSThread()
	// Handled, not ignored: what is ignored would be ignored by the program.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	orders, reports := os.NewFile(3, "orders"), gob.NewEncoder(os.NewFile(4, "reports"))

	var what program
	if err := gob.NewDecoder(orders).Decode(&what); err != nil {
		return 1
	}
	ready := reportOf(prepareSelf())
	if err := reports.Encode(ready); err != nil || ready.Errno != 0 {
		return 1
	}
	pid, err := startProgram(what)
	begun := reportOf(err)
	begun.PID = pid
	if err := reports.Encode(begun); err != nil || begun.Errno != 0 {
		return 1
	}
	s := supervisor{pid: pid, leash: leashOf(orders), deaths: deaths()}
	s.watch()
	if err := reports.Encode(report{Status: uint32(s.status), Killed: s.killed}); err != nil {
		return 1
	}
	return 0
}

// prepareSelf makes this process what a program may be started from.
func prepareSelf() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := limit(); err != nil {
		return err
	}
	return closeOnExec()
}

// startProgram starts the program on this process's standard streams, and
// lets go of them, so that they end with the program's processes.
func startProgram(what program) (int, error) {
	pid, err := syscall.ForkExec(what.Argv[0], what.Argv, &syscall.ProcAttr{
		Dir:   what.Dir,
		Env:   what.Env,
		Files: []uintptr{0, 1, 2},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	null, openErr := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	for fd := range 3 {
		if openErr != nil || unix.Dup3(null, fd, unix.O_CLOEXEC) != nil {
			unix.Close(fd)
		}
	}
	return pid, err
}

// limit sets the limits that this process and its children have.
func limit() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return err
	}
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return err
	}
	files.Max = min(files.Max, openFiles)
	files.Cur = files.Max
	return unix.Setrlimit(unix.RLIMIT_NOFILE, &files)
}

// closeOnExec keeps from the program what the server itself has inherited
// from its own parent. What Go opens is marked already.
func closeOnExec() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return err
	}
	for _, entry := range open {
		if fd := number(entry.Name()); fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// leashOf gives a channel that is closed when the server lets go.
func leashOf(orders io.Reader) <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		io.Copy(io.Discard, orders)
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
			pid, err := unix.Wait4(-1, &status, 0, nil)
			if err == nil {
				all <- death{pid, status}
			} else if err != unix.EINTR {
				return // ECHILD
			}
		}
	}()
	return all
}

// watch returns when no child is left, or none that can be killed.
func (s *supervisor) watch() {
	var lingered, round, giveUp <-chan time.Time
	leash := s.leash
	for {
		select {
		case d, alive := <-s.deaths:
			if !alive {
				return
			}
			if d.pid == s.pid {
				s.status, s.ended = d.status, true
				lingered = time.After(linger)
			}
			continue
		case <-giveUp:
			return
		case <-leash:
			leash, s.killed = nil, !s.ended
		case <-lingered:
		case <-round:
		}
		lingered = nil
		if giveUp == nil {
			giveUp = time.After(giveUpAfter)
		}
		killDescendants()
		round = time.After(killInterval)
	}
}
