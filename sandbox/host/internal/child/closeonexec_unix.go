//go:build unix

package child

import (
	"os"
	"strconv"
	"syscall"
)

// CloseOnExec keeps from programs what the server has inherited from its own
// parent: the open files that a directory lists. What Go opens is marked
// already.
func CloseOnExec(dir string) error {
	open, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}
