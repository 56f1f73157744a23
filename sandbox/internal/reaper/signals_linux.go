package reaper

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faults are the signals that Go takes for faults of this process, unless they
// say that a process has sent them, which they need not.
var faults = []syscall.Signal{
	unix.SIGILL, unix.SIGTRAP, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSTKFLT, unix.SIGSYS,
}

// WithstandSignals keeps programs from ending this process, which is an init.
func WithstandSignals() {
	// Handled, not ignored: what is ignored would be ignored by the program.
	signal.Notify(make(chan os.Signal, 1))
	// To an init that does not handle them the kernel brings no signals but
	// those of its real faults.
	toDefault(faults...)
}

// DefaultSignals makes programs that this process starts begin with no signal
// ignored, whatever it has inherited itself. What it handles from now on is
// by default in a program, whereas what it ignored would stay ignored.
func DefaultSignals() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	// The two that the GNU C library keeps to itself: its posix_spawn, by
	// which make starts what it runs, leaves them ignored, and os/signal does
	// not know them.
	const cancel, setxid = 32, 33
	toDefault(cancel, setxid)
}

// WithoutSignals calls fork while this thread blocks all signals, so that none
// reaches a new process before it can take it. The caller is locked to the thread.
func WithoutSignals(fork func()) {
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before) // cannot fail
	fork()
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
}

// toDefault has the kernel do with signals what it does by default.
func toDefault(signals ...syscall.Signal) {
	var byDefault [4]uint64 // struct sigaction of the kernel, SIG_DFL
	for _, number := range signals {
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	}
}
