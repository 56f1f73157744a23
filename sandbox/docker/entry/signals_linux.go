//go:build amd64 || arm64

package main

import (
	"os"
	"os/signal"
	"unsafe"

	"golang.org/x/sys/unix"
)

// faults are the signals that Go takes for faults of this process, unless they
// say that a process has sent them, which they need not.
var faults = []unix.Signal{
	unix.SIGILL, unix.SIGTRAP, unix.SIGBUS, unix.SIGFPE, unix.SIGSEGV, unix.SIGSTKFLT, unix.SIGSYS,
}

// withstandSignals keeps programs from ending this process.
func withstandSignals() {
	// Handled, not ignored: what is ignored would be ignored by the program.
	signal.Notify(make(chan os.Signal, 1))
	// To an init that does not handle them the kernel brings no signals but
	// those of its real faults.
	var byDefault [4]uint64 // struct sigaction of the kernel, SIG_DFL
	for _, number := range faults {
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(number), uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	}
}
