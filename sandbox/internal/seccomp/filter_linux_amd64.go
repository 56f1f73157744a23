package seccomp

import "golang.org/x/sys/unix"

const (
	auditArch = unix.AUDIT_ARCH_X86_64
	// foreignSyscalls is the first number of the x32 interface, whose calls
	// have other numbers than those that the filter knows.
	foreignSyscalls = 0x4000_0000
)

// modesHere are those that other architectures do without.
var modesHere = []modeCall{
	{call: unix.SYS_CHMOD, mode: 1}, {call: unix.SYS_MKNOD, mode: 1}, {call: unix.SYS_CREAT, mode: 1},
	{call: unix.SYS_OPEN, mode: 2, flags: 1},
}

var refusedHere = []uintptr{
	unix.SYS_MODIFY_LDT, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS,
	unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE,
}

var missingHere = []uintptr{unix.SYS_INOTIFY_INIT}
