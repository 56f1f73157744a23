//go:build amd64 || arm64

package seccomp

import "golang.org/x/sys/unix"

// scheduling are the calls that change how a thread is scheduled which their
// first argument names.
var scheduling = []uintptr{
	unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR,
}

// Guard returns a filter besides that of a program, which keeps it from changing
// how threads with numbers up to that one are scheduled. Those of an init with
// the same user would not be otherwise: once they may run only when no one else
// wants to, they cannot kill, and not even die of SIGKILL, as long as the
// program goes on.
func Guard(thread int) []unix.SockFilter {
	f := filter{}
	f.load(offsetNumber)
	f = append(f, guard(uint32(thread))...)
	return append(f, answer(allow)...)
}

// guard is the part that says what is refused, with the call's number loaded.
func guard(thread uint32) filter {
	f := filter{}
	f.whenAny(scheduling, guardRule(0, thread))
	f.when(unix.BPF_JEQ, unix.SYS_SETPRIORITY, priorityRule(unix.PRIO_USER, thread))
	f.when(unix.BPF_JEQ, unix.SYS_IOPRIO_SET, priorityRule(ioprioWhoUser, thread))
	return f
}

// ioprioWhoUser is IOPRIO_WHO_USER of the kernel.
const ioprioWhoUser = 3

// guardRule allows an argument that names the caller, as 0 does, or a thread or
// a process group with a higher number.
func guardRule(argument, thread uint32) filter {
	f := filter{}
	f.loadArg(argument)
	f.when(unix.BPF_JEQ, 0, answer(allow))
	f.when(unix.BPF_JGT, thread, answer(allow))
	return append(f, answer(eperm)...)
}

// priorityRule is guardRule for the second argument, unless the first names
// all processes of a user.
func priorityRule(user, thread uint32) filter {
	f := filter{}
	f.loadArg(0)
	f.when(unix.BPF_JEQ, user, answer(eperm))
	return append(f, guardRule(1, thread)...)
}
