//go:build unix

package testprocess

import (
	"fmt"
	"os"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/procstat"
)

// Alive reports whether a process runs. One that is dead and only waits for its
// parent's notice does not.
func Alive(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !os.IsNotExist(err) || !procMounted()
	}
	stat, ok := procstat.Parse(text)
	return !ok || !stat.Dead()
}

// procMounted reports whether /proc tells of processes here.
func procMounted() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}
