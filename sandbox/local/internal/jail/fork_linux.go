//go:build amd64 || arm64

package jail

import (
	"encoding/binary"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/seccomp"
)

// prepared is a program's process to be: all that it needs before it executes
// the program is in memory, since it can neither allocate nor use what needs
// Go's scheduler.
type prepared struct {
	root       *builder // nil where the program is in the server's file system
	clock      *clock   // nil there, too
	path, dir  *byte
	argv, envv []*byte
	limits     []limit
	landlock   int // ruleset, or -1
	shared     bool
	user       uintptr // or 0
	filter     unix.SockFprog
	status     [2]int // a pipe for what goes wrong

	defaultAction                [4]uint64 // struct sigaction of the kernel
	noSignals                    uint64
	capHeader                    unix.CapUserHeader
	capData                      [2]unix.CapUserData
	ownProc                      []*byte // paths
	ownProcRule, ownProcFileRule unix.LandlockPathBeneathAttr
	failure                      [8]byte // the step's number, then the error's
}

type limit struct {
	resource int
	value    unix.Rlimit
}

const lastSignal = 64

// generic readies what is the same for all programs.
func (p *prepared) generic() error {
	p.ownProcFileRule.Allowed_access = unix.LANDLOCK_ACCESS_FS_READ_FILE
	p.ownProcRule.Allowed_access = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	for _, name := range ownProc {
		path, err := syscall.BytePtrFromString("/proc/self/" + name)
		if err != nil {
			return failed("name a file", err)
		}
		p.ownProc = append(p.ownProc, path)
	}
	p.capHeader.Version = unix.LINUX_CAPABILITY_VERSION_3
	if p.root == nil {
		// Handled, not ignored: what is ignored the program would ignore.
		signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	} else {
		p.resetSignals() // the first process of a namespace gets no signal that it does not handle
	}
	return failed("make a pipe", unix.Pipe2(p.status[:], unix.O_CLOEXEC))
}

// fill readies everything else.
func (p *prepared) fill(orders Orders) (err error) {
	if p.argv, err = syscall.SlicePtrFromStrings(orders.Argv); err != nil {
		return failed("read the arguments", err)
	}
	if p.envv, err = syscall.SlicePtrFromStrings(orders.Env); err != nil {
		return failed("read the environment", err)
	}
	p.path = p.argv[0]
	if p.dir, err = syscall.BytePtrFromString(orders.Dir); err != nil {
		return failed("read the directory", err)
	}
	for _, l := range orders.Limits {
		p.limits = append(p.limits, limit{l.Resource, unix.Rlimit{Cur: l.Value, Max: l.Value}})
	}
	if p.landlock, err = newRuleset(orders.Rights); err != nil {
		return failed("make the Landlock ruleset", err)
	}
	p.shared, p.user = orders.Rights.Shared, uintptr(orders.Rights.User)
	program := seccomp.Filter(seccomp.Surroundings{
		Shared:   orders.Rights.Shared,
		Truncate: orders.Rights.Shared && LandlockABI() < landlockTruncateABI,
	})
	p.filter = unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	return nil
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

// steps of the new process that can fail, by number.
var steps = [...]string{
	stepSession: "begin a session", stepUser: "become another user", stepDeath: "ask to die with the supervisor", stepDir: "enter the directory",
	stepLimits: "set limits", stepPrivileges: "renounce privileges", stepLandlock: "enforce Landlock",
	stepCapabilities: "drop capabilities", stepSeccomp: "install the seccomp filter",
	stepExec: "",
}

const (
	stepSession = iota
	stepUser
	stepDeath
	stepDir
	stepLimits
	stepPrivileges
	stepLandlock
	stepCapabilities
	stepSeccomp
	stepExec
)

// start forks the program's process and returns when it executes the program.
func (p *prepared) start() (int, error) {
	all, before := ^uint64(0), uint64(0)
	sigprocmask(&all, &before)
	pid, errno := p.fork()
	sigprocmask(&before, nil)
	unix.Close(p.status[1])
	if errno != 0 {
		return 0, failed("fork", errno)
	}
	runtime.KeepAlive(p)
	n, err := readFull(p.status[0], p.failure[:])
	unix.Close(p.status[0])
	if n == 0 && err == nil {
		return pid, nil
	}
	unix.Wait4(pid, nil, 0, nil)
	if n < len(p.failure) {
		return 0, failed("start the program", unix.EIO)
	}
	step := binary.NativeEndian.Uint32(p.failure[:4])
	errno = syscall.Errno(binary.NativeEndian.Uint32(p.failure[4:]))
	if step == stepExec {
		return 0, errno // the program's fault
	}
	return 0, failed(steps[step], errno)
}

func readFull(fd int, buf []byte) (n int, err error) {
	for n < len(buf) {
		more, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || more == 0 {
			return n, err
		}
		n += more
	}
	return n, nil
}

// sigprocmask sets the signals that this thread blocks.
func sigprocmask(set, old *uint64) {
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK,
		uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(old)), unsafe.Sizeof(*set), 0, 0)
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
	step, errno := p.become()
	*(*uint32)(unsafe.Pointer(&p.failure[0])) = uint32(step)
	*(*uint32)(unsafe.Pointer(&p.failure[4])) = uint32(errno)
	syscall.RawSyscall(unix.SYS_WRITE, uintptr(p.status[1]), uintptr(unsafe.Pointer(&p.failure[0])), 8)
	for {
		syscall.RawSyscall(unix.SYS_EXIT_GROUP, 125, 0, 0)
	}
}

// become turns the new process into the program. It returns only where that
// fails.
//
//go:nosplit
//go:norace
func (p *prepared) become() (step int, errno syscall.Errno) {
	p.resetSignals()
	if _, _, errno = syscall.RawSyscall(unix.SYS_SETSID, 0, 0, 0); errno != 0 {
		return stepSession, errno
	}
	if p.user != 0 {
		if errno = p.becomeUser(); errno != 0 {
			return stepUser, errno
		}
	}
	// After that: who becomes another user does not die with its parent.
	if _, _, errno = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0); errno != 0 {
		return stepDeath, errno
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_CHDIR, uintptr(unsafe.Pointer(p.dir)), 0, 0); errno != 0 {
		return stepDir, errno
	}
	for i := range p.limits {
		l := &p.limits[i]
		if _, _, errno = syscall.RawSyscall6(unix.SYS_PRLIMIT64, 0, uintptr(l.resource), uintptr(unsafe.Pointer(&l.value)), 0, 0, 0); errno != 0 {
			return stepLimits, errno
		}
	}
	if step, errno = p.renounce(); errno != 0 {
		return step, errno
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&p.noSignals)), 0, 8, 0, 0)
	_, _, errno = syscall.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(p.path)),
		uintptr(unsafe.Pointer(&p.argv[0])), uintptr(unsafe.Pointer(&p.envv[0])))
	return stepExec, errno
}

// becomeUser changes the user of the new process for good, and leaves it no
// groups but that user's.
//
//go:nosplit
//go:norace
func (p *prepared) becomeUser() (errno syscall.Errno) {
	if _, _, errno = syscall.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return errno
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_SETRESGID, p.user, p.user, p.user); errno != 0 {
		return errno
	}
	_, _, errno = syscall.RawSyscall(unix.SYS_SETRESUID, p.user, p.user, p.user)
	return errno
}

// renounce takes all rights away from the new process, for good.
//
//go:nosplit
//go:norace
func (p *prepared) renounce() (step int, errno syscall.Errno) {
	if _, _, errno = syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return stepPrivileges, errno
	}
	if p.landlock >= 0 {
		if p.shared {
			p.grantOwnProc()
		}
		if _, _, errno = syscall.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(p.landlock), 0, 0); errno != 0 {
			return stepLandlock, errno
		}
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&p.capHeader)), uintptr(unsafe.Pointer(&p.capData[0])), 0); errno != 0 {
		return stepCapabilities, errno
	}
	if _, _, errno = syscall.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&p.filter))); errno != 0 {
		return stepSeccomp, errno
	}
	return 0, 0
}

// ownProc are the files that tell a program about itself alone.
var ownProc = [...]string{"fd", "status", "stat", "maps", "cmdline"}

// grantOwnProc lets a program read what /proc tells of its own process. Of the
// other processes of the machine it is to know nothing. A program can do
// without, so that failure does not matter.
//
//go:nosplit
//go:norace
func (p *prepared) grantOwnProc() {
	at := unix.AT_FDCWD
	for i := range p.ownProc {
		fd, _, errno := syscall.RawSyscall6(unix.SYS_OPENAT, uintptr(at), uintptr(unsafe.Pointer(p.ownProc[i])), unix.O_PATH|unix.O_CLOEXEC, 0, 0, 0)
		if errno == 0 {
			rule := &p.ownProcRule
			if i > 0 { // only the first is a directory
				rule = &p.ownProcFileRule
			}
			rule.Parent_fd = int32(fd)
			syscall.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(p.landlock), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(rule)), 0, 0, 0)
		}
	}
}
