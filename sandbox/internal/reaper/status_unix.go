//go:build unix

package reaper

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// EndingOf returns the ending of a process with that status. A signal without
// name, such as a real-time signal, goes by its number.
func EndingOf(status syscall.WaitStatus) Ending {
	if status.Exited() {
		return Ending{Code: status.ExitStatus()}
	}
	name := unix.SignalName(status.Signal())
	if name == "" {
		name = fmt.Sprintf("SIG%d", int(status.Signal()))
	}
	return Ending{Signal: name}
}
