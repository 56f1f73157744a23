package supervisor

import (
	"os"
	"os/signal"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DefaultSignals makes programs that this process starts begin with no signal
// ignored, whatever it has inherited itself. What it handles from now on is
// by default in a program, whereas what it ignored would stay ignored.
func DefaultSignals() {
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM)
	// The two that the GNU C library keeps to itself: its posix_spawn, by
	// which make starts what it runs, leaves them ignored, and os/signal does
	// not know them.
	const cancel, setxid = 32, 33
	var byDefault [4]uint64 // struct sigaction of the kernel, SIG_DFL
	for _, number := range []uintptr{cancel, setxid} {
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, number, uintptr(unsafe.Pointer(&byDefault)), 0, 8, 0, 0)
	}
}
