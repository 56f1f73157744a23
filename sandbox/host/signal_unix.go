//go:build unix

package host

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// signalName gives the POSIX name of a signal, or its number for those that
// have no name, such as real-time signals.
func signalName(signal syscall.Signal) string {
	if name := unix.SignalName(signal); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(signal))
}
