//go:build amd64 || arm64

// Package seccomp makes the filter of system calls that programs of skills
// have in every sandbox: what is left are the calls of ordinary programs.
//
// It refuses what it knows to be dangerous, and all that a later kernel adds.
// Where the sandbox has a filter of its own, as containers have, this comes on
// top of it: the kernel asks all filters and does what the strictest says.
package seccomp

import (
	"math"
	"slices"

	"golang.org/x/sys/unix"
)

// lastSyscall is the newest system call that was looked at. What a later
// kernel adds does not exist for programs.
const lastSyscall = unix.SYS_RSEQ_SLICE_YIELD

// refused are the system calls that no program may use, on any architecture.
var refused = slices.Concat(refusedHere, []uintptr{
	// mounts and namespaces
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE,
	unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT, unix.SYS_LISTNS,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
	// other processes
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	// large parts of the kernel that scripts do not need
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL, unix.SYS_MEMFD_SECRET,
	// the machine itself
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE,
	unix.SYS_DELETE_MODULE, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SYSLOG,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
})

// Surroundings are what is around a program, as far as its filter depends on
// it.
type Surroundings struct {
	// Shared reports that the program is in the server's namespaces: whatever
	// could reach somebody else's process there is refused too, such as any
	// socket but connected pairs. Else it has a network namespace with nothing
	// but a loopback interface of its own, which it may use.
	Shared bool
	// Truncate reports that nothing but the filter keeps the program from
	// truncating files by their names.
	Truncate bool
}

// refusedShared are refused besides where the program is in the server's own
// namespaces.
var refusedShared = []uintptr{
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV,
	unix.SYS_MSGCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// missing are answered as by a kernel without them. A watch on a file that
// others use too, as those of the system and of a skill's copy are, tells what
// they do; which file it is about, no filter can see. Without inotify the usual
// programs poll, and more of them do so for this error than for another.
// The flags and modes of clone3 and openat2 are in memory, where no filter can
// see them; the C library falls back to the older calls.
var missing = slices.Concat(missingHere, []uintptr{unix.SYS_INOTIFY_INIT1, unix.SYS_CLONE3, unix.SYS_OPENAT2})

// refusedFcntls watch a directory, and keep others from opening a file or from
// making one.
var refusedFcntls = []uint32{unix.F_NOTIFY, unix.F_SETLEASE, unix.F_SETDELEG}

// unsupportedShared are answered there as by a file system that cannot do so:
// they change files wherever they are, and Landlock does not know of them.
var unsupportedShared = []uintptr{
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	unix.SYS_FILE_SETATTR,
}

// setID are the mode bits by which a file runs with its owner's rights. What
// programs leave is read by others: no reader may be caught by such a file.
const setID = unix.S_ISUID | unix.S_ISGID

// modes are the calls that give a file a mode, by the number of that argument.
var modes = []modeCall{
	{call: unix.SYS_FCHMOD, mode: 1}, {call: unix.SYS_FCHMODAT, mode: 2}, {call: unix.SYS_FCHMODAT2, mode: 2},
	{call: unix.SYS_MKNODAT, mode: 2}, {call: unix.SYS_OPENAT, mode: 3, flags: 2},
}

// modeCall is a system call with a mode, which for one with flags only counts
// where a file is made.
type modeCall struct{ call, mode, flags uint32 }

// makesFile are the flags of open that make a file.
const makesFile = unix.O_CREAT | unix.O_TMPFILE&^unix.O_DIRECTORY

// cloneNamespaces are the flags of clone that make namespaces.
const cloneNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET

// refusedIoctls push input into a terminal.
var refusedIoctls = []uint32{unix.TIOCSTI, unix.TIOCLINUX}

// What a filter answers.
const (
	allow = unix.SECCOMP_RET_ALLOW
	kill  = unix.SECCOMP_RET_KILL_PROCESS
	eperm = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	// enosys makes the C library fall back to an older call.
	enosys  = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	enotsup = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOTSUP)
	// eafnosupport is what a kernel without that family says.
	eafnosupport    = unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)
	eprotonosupport = unix.SECCOMP_RET_ERRNO | uint32(unix.EPROTONOSUPPORT)
)

// The offsets in struct seccomp_data, on little-endian machines.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

// Filter returns the filter of a program.
func Filter(around Surroundings) []unix.SockFilter {
	f := filter{}
	f.load(offsetArch)
	f.unless(unix.BPF_JEQ, auditArch, answer(kill))
	f.load(offsetNumber)
	f.when(unix.BPF_JGE, foreignSyscalls, answer(kill))
	f.when(unix.BPF_JGT, lastSyscall, answer(enosys))
	f.whenAny(missing, answer(enosys))
	f.whenAny(refused, answer(eperm))
	if around.Shared {
		f.whenAny(refusedShared, answer(eperm))
		f.whenAny(unsupportedShared, answer(enotsup))
		f = append(f, guard(math.MaxUint32)...)
	}
	if around.Truncate {
		f.when(unix.BPF_JEQ, unix.SYS_TRUNCATE, answer(eperm))
	}
	for _, m := range slices.Concat(modes, modesHere) {
		f.when(unix.BPF_JEQ, m.call, m.rule())
	}
	f.when(unix.BPF_JEQ, unix.SYS_CLONE, cloneRule())
	f.when(unix.BPF_JEQ, unix.SYS_IOCTL, decide(1, refusedIoctls, eperm, allow))
	f.when(unix.BPF_JEQ, unix.SYS_FCNTL, decide(1, refusedFcntls, eperm, allow))
	f.when(unix.BPF_JEQ, unix.SYS_SOCKET, socketRule(around))
	f.when(unix.BPF_JEQ, unix.SYS_SOCKETPAIR, socketpairRule(around))
	// A program may ask for its personality, and keep it.
	f.when(unix.BPF_JEQ, unix.SYS_PERSONALITY, decide(0, []uint32{0, ^uint32(0)}, allow, eperm))
	f.when(unix.BPF_JEQ, unix.SYS_PRLIMIT64, prlimitRule())
	return append(f, answer(allow)...)
}

// rule refuses modes that set an identity.
func (m modeCall) rule() filter {
	f := filter{}
	if m.flags != 0 {
		f.loadArg(m.flags)
		f.unless(unix.BPF_JSET, makesFile, answer(allow))
	}
	f.loadArg(m.mode)
	f.when(unix.BPF_JSET, setID, answer(eperm))
	return append(f, answer(allow)...)
}

func cloneRule() filter {
	f := filter{}
	f.loadArg(0)
	f.when(unix.BPF_JSET, cloneNamespaces, answer(eperm))
	return append(f, answer(allow)...)
}

// decide answers by whether an argument is one of some values.
func decide(argument uint32, values []uint32, then, otherwise uint32) filter {
	f := filter{}
	f.loadArg(argument)
	for _, value := range values {
		f.when(unix.BPF_JEQ, value, answer(then))
	}
	return append(f, answer(otherwise)...)
}

// socketRule allows local sockets where there is no one else to talk to, and
// those of the Internet where they lead nowhere.
func socketRule(around Surroundings) filter {
	if around.Shared {
		return answer(eafnosupport)
	}
	f := filter{}
	f.loadArg(0)
	f.when(unix.BPF_JEQ, unix.AF_UNIX, answer(allow))
	f.when(unix.BPF_JEQ, unix.AF_INET, internetRule())
	f.when(unix.BPF_JEQ, unix.AF_INET6, internetRule())
	f.when(unix.BPF_JEQ, unix.AF_NETLINK, protocolRule(unix.NETLINK_ROUTE)) // asked for the interfaces
	return append(f, answer(eafnosupport)...)
}

// protocolRule allows sockets of some of a family's protocols.
func protocolRule(protocols ...uint32) filter { return decide(2, protocols, allow, eprotonosupport) }

// internetRule allows TCP and UDP. By the type too: what is the protocol of
// others, where none is named, depends on the modules that the kernel has.
func internetRule() filter {
	f := filter{}
	f.loadType()
	f.when(unix.BPF_JEQ, unix.SOCK_STREAM, protocolRule(0, unix.IPPROTO_TCP))
	f.when(unix.BPF_JEQ, unix.SOCK_DGRAM, protocolRule(0, unix.IPPROTO_UDP))
	return append(f, answer(eprotonosupport)...)
}

// socketpairRule allows connected pairs. Of datagram sockets even a connected
// one can send elsewhere.
func socketpairRule(around Surroundings) filter {
	f := filter{}
	f.loadArg(0)
	f.unless(unix.BPF_JEQ, unix.AF_UNIX, answer(eafnosupport))
	if around.Shared {
		f.loadType()
		f.when(unix.BPF_JEQ, unix.SOCK_STREAM, answer(allow))
		f.when(unix.BPF_JEQ, unix.SOCK_SEQPACKET, answer(allow))
		return append(f, answer(eafnosupport)...)
	}
	return append(f, answer(allow)...)
}

// prlimitRule allows a process to set limits of its own only.
func prlimitRule() filter {
	f := filter{}
	f.loadArg(0)
	f.when(unix.BPF_JEQ, 0, answer(allow))
	for _, half := range []uint32{0, 4} { // of the pointer to the new limits
		f.load(offsetArgs + 2*8 + half)
		f.unless(unix.BPF_JEQ, 0, answer(eperm))
	}
	return append(f, answer(allow)...)
}
