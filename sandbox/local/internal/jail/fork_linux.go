//go:build amd64 || arm64

package jail

import (
	"encoding/binary"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/seccomp"
)

// prepared is a program's process to be: all that it needs before it executes
// the program is in memory, since it can neither allocate nor use what needs
// Go's scheduler.
type prepared struct {
	root   *builder // nil where the program is in the server's file system
	clock  *clock   // nil there, too
	calls  []call
	shared bool
	status [2]int // a pipe for what goes wrong

	ruleset       int       // of Landlock, or -1
	defaultAction [4]uint64 // struct sigaction of the kernel
	noSignals     uint64
	capHeader     unix.CapUserHeader
	capData       [2]unix.CapUserData
	ownProc       unix.LandlockPathBeneathAttr
	failure       [2]uint32 // the call's index, then the error's number
	alive         []any     // what the arguments of calls point to
}

// call is a system call of the new process, and what it is for.
type call struct {
	step      string
	number    uintptr
	arguments [5]uintptr
}

const lastSignal = 64

// timerSlack is the kernel's own, in nanoseconds. The launcher's is another.
const timerSlack = 50_000

// generic readies what is the same for all programs.
func (p *prepared) generic() error {
	p.capHeader.Version = unix.LINUX_CAPABILITY_VERSION_3
	if p.root == nil {
		// Handled, not ignored: what is ignored the program would ignore.
		signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	} else {
		p.resetSignals() // the first process of a namespace gets no signal that it does not handle
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlack, 0, 0, 0); err != nil {
		return failed("set the timer slack", err)
	}
	return failed("make a pipe", unix.Pipe2(p.status[:], unix.O_CLOEXEC))
}

// fill readies everything else.
func (p *prepared) fill(orders Orders) error {
	argv, err := syscall.SlicePtrFromStrings(orders.Argv)
	if err != nil {
		return failed("read the arguments", err)
	}
	envv, err := syscall.SlicePtrFromStrings(orders.Env)
	if err != nil {
		return failed("read the environment", err)
	}
	dir, err := syscall.BytePtrFromString(orders.Dir)
	if err != nil {
		return failed("read the directory", err)
	}
	if p.ruleset, err = newRuleset(orders.Rights); err != nil {
		return failed("make the Landlock ruleset", err)
	}
	p.shared = orders.Rights.Shared
	p.begin(uintptr(orders.Rights.User), dir, orders.Limits)
	p.renounce(seccomp.Filter(seccomp.Surroundings{
		Shared:   p.shared,
		Truncate: p.shared && LandlockABI() < landlockTruncateABI,
	}))
	p.call("unblock signals", unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, address(p, &p.noSignals), 0, unsafe.Sizeof(p.noSignals))
	p.call("", unix.SYS_EXECVE, address(p, argv[0]), address(p, &argv[0]), address(p, &envv[0]))
	return nil
}

// call adds a system call to those of the new process.
func (p *prepared) call(step string, number uintptr, arguments ...uintptr) {
	added := call{step: step, number: number}
	copy(added.arguments[:], arguments)
	p.calls = append(p.calls, added)
}

// address returns an argument that points to a value, which stays where it is.
func address[T any](p *prepared, value *T) uintptr {
	p.alive = append(p.alive, value)
	return uintptr(unsafe.Pointer(value))
}

// begin has the new process be in a session of its own, as a user where that is
// not 0, and leaves it no groups but that user's.
func (p *prepared) begin(user uintptr, dir *byte, limits []Limit) {
	p.call("begin a session", unix.SYS_SETSID)
	if user != 0 {
		const step = "become another user"
		p.call(step, unix.SYS_SETGROUPS, 0, 0)
		p.call(step, unix.SYS_SETRESGID, user, user, user)
		p.call(step, unix.SYS_SETRESUID, user, user, user)
	}
	// After that: who becomes another user does not die with its parent.
	p.call("ask to die with the supervisor", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL))
	p.call("enter the directory", unix.SYS_CHDIR, address(p, dir))
	for _, l := range limits {
		p.call("set limits", unix.SYS_PRLIMIT64, 0, uintptr(l.Resource), address(p, &unix.Rlimit{Cur: l.Value, Max: l.Value}))
	}
}

// renounce has the new process give up all rights, for good.
func (p *prepared) renounce(filter []unix.SockFilter) {
	p.call("renounce privileges", unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1)
	if p.ruleset >= 0 {
		p.call("enforce Landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(p.ruleset))
	}
	p.call("drop capabilities", unix.SYS_CAPSET, address(p, &p.capHeader), address(p, &p.capData))
	program := &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	p.call("install the seccomp filter", unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, address(p, program))
}

// dropCapabilities takes from this thread what a program could get back by
// executing a file. What it has itself it needs to start the program.
func dropCapabilities(must bool) error {
	for capability := range uintptr(64) {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0)
		if err == unix.EINVAL { // there is none of that number
			break
		}
		if err != nil && must {
			return failed("drop capabilities", err)
		}
	}
	err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	return failed("drop ambient capabilities", err)
}

// start forks the program's process and returns when it executes the program.
func (p *prepared) start() (int, error) {
	var pid int
	var errno syscall.Errno
	reaper.WithoutSignals(func() { pid, errno = p.fork() })
	unix.Close(p.status[1])
	if errno != 0 {
		return 0, failed("fork", errno)
	}
	runtime.KeepAlive(p)
	var said [8]byte
	status := os.NewFile(uintptr(p.status[0]), "status")
	n, err := io.ReadFull(status, said[:])
	status.Close()
	if n == 0 && err == io.EOF {
		return pid, nil
	}
	unix.Wait4(pid, nil, 0, nil)
	if err != nil {
		return 0, failed("start the program", unix.EIO)
	}
	at := int(binary.NativeEndian.Uint32(said[:4]))
	errno = syscall.Errno(binary.NativeEndian.Uint32(said[4:]))
	if at == len(p.calls)-1 {
		return 0, errno // the program's fault
	}
	return 0, failed(p.calls[at].step, errno)
}

// resetSignals gives every signal its default action. It cannot fail but for
// the two that have no other.
//
//go:nosplit
//go:norace
func (p *prepared) resetSignals() {
	for number := uintptr(1); number <= lastSignal; number++ {
		syscall.RawSyscall6(unix.SYS_RT_SIGACTION, number, uintptr(unsafe.Pointer(&p.defaultAction)), 0, 8, 0, 0)
	}
}

// fork makes the program's process. In the new process only this thread
// lives, so that from here to the execution of the program nothing may be
// called but system calls: no allocation, no growing stack, no race detector.
//
//go:nosplit
//go:norace
func (p *prepared) fork() (int, syscall.Errno) {
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 || pid != 0 {
		return int(pid), errno
	}
	p.resetSignals()
	if p.shared && p.ruleset >= 0 {
		p.grantOwnProc()
	}
	for i := range p.calls {
		c := &p.calls[i]
		a := &c.arguments
		if _, _, errno = syscall.RawSyscall6(c.number, a[0], a[1], a[2], a[3], a[4], 0); errno != 0 {
			p.failure[0], p.failure[1] = uint32(i), uint32(errno)
			break
		}
	}
	syscall.RawSyscall(unix.SYS_WRITE, uintptr(p.status[1]), uintptr(unsafe.Pointer(&p.failure)), unsafe.Sizeof(p.failure))
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 125, 0, 0)
	}
}

// ownProc are a directory and the files that tell a program about itself alone,
// for the kernel.
var ownProc = [...]string{"/proc/self/fd\x00", "/proc/self/status\x00", "/proc/self/stat\x00", "/proc/self/maps\x00", "/proc/self/cmdline\x00"}

// grantOwnProc lets a program read what /proc tells of its own process. Of the
// other processes of the machine it is to know nothing. A program can do
// without, so that failure does not matter.
//
//go:nosplit
//go:norace
func (p *prepared) grantOwnProc() {
	at := unix.AT_FDCWD
	p.ownProc.Allowed_access = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	for i := range ownProc {
		path := uintptr(unsafe.Pointer(unsafe.StringData(ownProc[i])))
		fd, _, errno := syscall.RawSyscall6(unix.SYS_OPENAT, uintptr(at), path, unix.O_PATH|unix.O_CLOEXEC, 0, 0, 0)
		if errno == 0 {
			p.ownProc.Parent_fd = int32(fd)
			syscall.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(p.ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&p.ownProc)), 0, 0, 0)
		}
		p.ownProc.Allowed_access = unix.LANDLOCK_ACCESS_FS_READ_FILE // only the first is a directory
	}
}
