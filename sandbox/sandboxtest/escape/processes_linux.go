package escape

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func processes() []Attempt {
	return group("processes", []Attempt{
		{Name: "find-process", Try: func(v Victims) error { return unix.Kill(v.PID, 0) }},
		{Name: "signal-process", Try: func(v Victims) error { return unix.Kill(v.PID, unix.SIGCONT) }},
		{Name: "signal-process-by-pidfd", Try: signalByPidfd},
		{Name: "list-processes", Shell: `ls /proc | grep -qx "$VICTIM_PID"`},
		{Name: "read-command-line", Shell: `tr '\0' ' ' < "/proc/$VICTIM_PID/cmdline" | grep -q .`},
		{Name: "read-environment", Shell: `grep -aq secret "/proc/$VICTIM_PID/environ"`},
		{Name: "read-memory-map", Shell: `grep -q . "/proc/$VICTIM_PID/maps"`},
		{Name: "read-memory-by-proc", Try: readMemory},
		{Name: "read-memory-by-call", Try: readMemoryByCall},
		{Name: "write-memory-by-call", Try: writeMemoryByCall},
		{Name: "trace-process", Try: tracesProcess},
		{Name: "steal-descriptor", Try: stealDescriptor},
		{Name: "list-descriptors", Shell: `ls "/proc/$VICTIM_PID/fd"`},
		{Name: "enter-directory-of-process", Shell: `cd "/proc/$VICTIM_PID/cwd"`},
		{Name: "compare-processes", Try: compareProcesses, Rare: true},
		{Name: "change-oom-score", Shell: `echo 500 > "/proc/$VICTIM_PID/oom_score_adj"`},
		{Name: "change-limits-of-process", Try: changeLimits},
		{Name: "change-priority-of-process", Try: func(v Victims) error { return unix.Setpriority(unix.PRIO_PROCESS, v.PID, 1) }},
		{Name: "change-affinity-of-process", Try: changeAffinity},
		{Name: "new-user-namespace", Try: clones(unix.CLONE_NEWUSER)},
		{Name: "new-mount-namespace", Try: clones(unix.CLONE_NEWUSER | unix.CLONE_NEWNS)},
		{Name: "new-network-namespace", Try: clones(unix.CLONE_NEWUSER | unix.CLONE_NEWNET)},
		{Name: "new-user-namespace-by-unshare", Shell: `unshare --user true`},
		{Name: "new-user-namespace-by-clone3", Try: clone3},
		{Name: "join-namespace", Try: joinNamespace, Root: true},
		{Name: "mount", Shell: `mkdir m && mount -t tmpfs none m && umount m`, Root: true},
		{Name: "mount-by-new-calls", Try: newMount, Root: true},
		{Name: "bind-mount", Shell: `mkdir m && mount --bind / m && umount -l m`, Root: true},
		{Name: "change-root", Try: func(Victims) error { return unix.Chroot("/") }, Root: true},
		{Name: "be-user-0", Shell: `test "$(id -u)" = 0`, Root: true},
		{Name: "hold-capabilities", Try: holdsCapabilities("CapEff"), Root: true},
		{Name: "regain-capabilities", Try: regainsCapabilities},
		{Name: "run-setuid-program", Try: runSetuid, Root: true},
		{Name: "become-another-user", Try: func(Victims) error { return syscall.Setuid(12345) }, Root: true},
	})
}

func signalByPidfd(v Victims) error {
	fd, err := unix.PidfdOpen(v.PID, 0)
	if err != nil {
		return err
	}
	return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
}

// stack finds the stack of a process, where its environment is.
func stack(pid int) (start, end uintptr, err error) {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(maps)) {
		if strings.Contains(line, "[stack]") {
			_, err = fmt.Sscanf(line, "%x-%x", &start, &end)
			return start, end, err
		}
	}
	return 0, 0, unix.ENOENT
}

func readMemory(v Victims) error {
	start, end, err := stack(v.PID)
	if err != nil {
		return err
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", v.PID))
	if err != nil {
		return err
	}
	content := make([]byte, end-start)
	if _, err := memory.ReadAt(content, int64(start)); err != nil {
		return err
	}
	if !bytes.Contains(content, []byte(secret)) {
		return errNotSecret
	}
	return nil
}

// vmCall tries to use the memory of a process. The address is nobody's: whether
// the call is allowed is decided first, and what is allowed then says EFAULT.
func vmCall(number uintptr, pid int) error {
	buf := make([]byte, 1)
	local := unix.Iovec{Base: &buf[0], Len: 1}
	remote := unix.RemoteIovec{Base: 1 << 12, Len: 1}
	_, _, errno := unix.Syscall6(number, uintptr(pid), uintptr(unsafe.Pointer(&local)), 1, uintptr(unsafe.Pointer(&remote)), 1, 0)
	if errno == unix.EFAULT { // it was allowed to try
		return nil
	}
	if errno != 0 {
		return errno
	}
	return nil
}

func readMemoryByCall(v Victims) error  { return vmCall(unix.SYS_PROCESS_VM_READV, v.PID) }
func writeMemoryByCall(v Victims) error { return vmCall(unix.SYS_PROCESS_VM_WRITEV, v.PID) }

func tracesProcess(v Victims) error {
	runtime.LockOSThread()
	if err := unix.PtraceSeize(v.PID); err != nil {
		return err
	}
	return nil // detached at the end of this process
}

func stealDescriptor(v Victims) error {
	process, err := unix.PidfdOpen(v.PID, 0)
	if err != nil {
		return err
	}
	_, err = unix.PidfdGetfd(process, 0, 0)
	return err
}

func compareProcesses(v Victims) error {
	const files = 2 // KCMP_FILES
	_, _, errno := unix.Syscall6(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(v.PID), files, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

func changeLimits(v Victims) error {
	return unix.Prlimit(v.PID, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
}

func changeAffinity(v Victims) error {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(v.PID, &set); err != nil {
		return err
	}
	return unix.SchedSetaffinity(v.PID, &set)
}

func clones(flags uintptr) func(Victims) error {
	return func(Victims) error {
		command := exec.Command("true")
		command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
		return command.Run()
	}
}

// clone3 makes a namespace by the call whose flags a seccomp filter cannot see.
//
//go:nosplit
//go:norace
func clone3(Victims) error {
	arguments := [11]uint64{unix.CLONE_NEWUSER, 0, 0, 0, uint64(unix.SIGCHLD)}
	pid, _, errno := syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&arguments)), unsafe.Sizeof(arguments), 0)
	if errno == 0 && pid == 0 {
		for {
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	if errno != 0 {
		return errno
	}
	return nil
}

func joinNamespace(v Victims) error {
	runtime.LockOSThread()
	fd, err := unix.Open("/proc/"+strconv.Itoa(v.PID)+"/ns/uts", unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	return unix.Setns(fd, unix.CLONE_NEWUTS)
}

func newMount(Victims) error {
	fd, err := unix.Fsopen("tmpfs", 0)
	if err != nil {
		return err
	}
	if err := unix.FsconfigCreate(fd); err != nil {
		return err
	}
	_, err = unix.Fsmount(fd, 0, 0)
	return err
}

// runSetuid runs a program of the skill that is set-user-ID to root.
func runSetuid(Victims) error {
	out, err := exec.Command(os.Getenv("SKILL_DIR")+"/setuid", "-u").Output()
	if err == nil && strings.TrimSpace(string(out)) != "0" {
		err = unix.EPERM
	}
	return err
}

// holdsCapabilities reports whether a set of this process is not empty.
func holdsCapabilities(set string) func(Victims) error {
	return func(Victims) error {
		status, err := os.ReadFile("/proc/self/status")
		if err != nil {
			return err
		}
		_, line, found := strings.Cut(string(status), "\n"+set+":\t")
		capabilities, _, _ := strings.Cut(line, "\n")
		if !found || strings.Trim(capabilities, "0") == "" {
			return unix.EPERM
		}
		return nil
	}
}

// regainsCapabilities reports whether executing a file could give capabilities.
func regainsCapabilities(v Victims) error {
	if renounced, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || renounced == 1 {
		return unix.EPERM
	}
	return holdsCapabilities("CapBnd")(v)
}
