//go:build unix

package process

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// SignalName gives the POSIX name of a signal, or its number for those that
// have no name, such as real-time signals.
func SignalName(signal syscall.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(signal))
}

// EndingOf returns the ending of a program with an exit code, or with the signal
// that ended it where that is not 0.
func EndingOf(code int, signal syscall.Signal, killed bool, cpuTime time.Duration) Ending {
	ending := Ending{Code: code, Killed: killed, CPUTime: cpuTime}
	if signal != 0 {
		ending.Code, ending.Signal = 0, SignalName(signal)
	}
	return ending
}
