package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/skills-mcp/skills-mcp/internal/procstat"
)

// thisHost names this machine and this pid namespace: a server that itself is
// in a container may share the engine with others whose pids mean nothing to
// it. It is empty where that cannot be told.
func thisHost() string {
	machine, err := os.ReadFile("/etc/machine-id")
	name := strings.TrimSpace(string(machine))
	if err != nil || name == "" {
		if name, err = os.Hostname(); err != nil {
			return ""
		}
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return name + "/" + namespace
}

// processName returns the name of a process for good, also when its pid is used
// again or the machine was started again. It is empty for one that is dead.
func processName(pid int) (string, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	stat, ok := procstat.Parse(text)
	if !ok || stat.Dead() {
		return "", nil
	}
	return fmt.Sprintf("%s/%d/%s", strings.TrimSpace(string(boot)), pid, stat.Started), nil
}

// isGone reports whether the process of that name is known to be gone.
func isGone(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	if err != nil {
		return false
	}
	now, err := processName(pid)
	return err == nil && now != name
}
