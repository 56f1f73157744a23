package launcher

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// name is the one by which the binary knows that it is to be a launcher.
const name = "skills-mcp-launcher"

// requestsFD is the descriptor of the socket by which requests come.
const requestsFD = 3

// childTimerSlack is how many nanoseconds longer than they are meant to sleeps
// may take in what is started.
const childTimerSlack = 2_000_000

// It must take over before main, and before the init functions of packages that
// need this one.
func init() {
	if supervisor.Asked(name) {
		done := make(chan struct{})
		go func() { // the main thread is who owns the process's memory: it enters no cgroup
			defer close(done)
			runtime.LockOSThread() // the thread that all processes die with
			serve()
		}()
		<-done
		syscall.Exit(0) // at once, without the hooks of os.Exit
	}
}

// serve starts what it is asked for until the server closes its end, or dies.
func serve() {
	if closeInherited() != nil {
		return
	}
	// What is started inherits it. The thread by which Go watches the others would
	// wake up there every 20 microseconds, which takes more than what it looks for.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, childTimerSlack, 0, 0, 0)
	requests := os.NewFile(requestsFD, "requests")
	for serveOne(requests) == nil {
	}
}

// closeInherited closes what the server inherited from its own parent, so that
// nobody gets it. What this process has opened itself, which may be what Go's
// poller needs, is marked as not to be inherited.
func closeInherited() error {
	unix.CloseOnExec(requestsFD)
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil { // as in a sandbox: then nobody else gets it, at least
		return unix.CloseRange(requestsFD, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	}
	for _, entry := range open {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil || fd <= requestsFD {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
	return nil
}

func serveOne(requests *os.File) error {
	files, _, err := wire.ReceiveFiles(requests, 0)
	if err != nil {
		return err
	}
	defer closeAll(files)
	var asked request
	if err := wire.Receive(requests, &asked); err != nil {
		return err
	}
	pid, handle, err := asked.start(files)
	if err != nil {
		return wire.Send(requests, refusal(err))
	}
	defer unix.Close(handle)
	go reap(pid)
	if err := wire.Send(requests, &answer{PID: pid}); err != nil {
		return err
	}
	return wire.SendFiles(requests, 0, handle)
}

// start starts a process, which cannot outlive this one where it was asked to die
// with it.
func (r *request) start(files []int) (pid, handle int, err error) {
	attr := &r.Attr
	if last := len(files) - 1; attr.UseCgroupFD {
		attr.CgroupFD, files = files[last], files[:last]
	}
	attr.PidFD = &handle
	process := &syscall.ProcAttr{Env: r.Env, Files: []uintptr{0, 1, 2}, Sys: attr}
	for _, fd := range files {
		process.Files = append(process.Files, uintptr(fd))
	}
	err = within(r.ThreadIn, func() error {
		pid, err = syscall.ForkExec(supervisor.SelfExe, []string{r.Name}, process)
		return err
	})
	return pid, handle, err
}

// within has the calling thread itself in cgroups of version 1 while it starts a
// process: for a thread that moves itself the kernel need not halt every fork and
// exit of the machine until it is sure that all processors have noticed, as it does
// where one process moves another.
func within(dirs []string, start func() error) error {
	defer func() {
		for _, dir := range dirs {
			enter(filepath.Dir(dir)) // where it fails, the next process takes the thread along
		}
	}()
	for _, dir := range dirs {
		if err := enter(dir); err != nil {
			return fmt.Errorf("enter a cgroup: %w", err)
		}
	}
	return start()
}

func enter(dir string) error {
	tasks, err := os.OpenFile(filepath.Join(dir, "tasks"), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer tasks.Close()
	_, err = tasks.WriteString("0")
	return err
}

// reap waits for a process, so that it does not remain in the system's table.
func reap(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
