package docker

import (
	"fmt"
	"os"
	"strconv"
	"strings"
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

// processName names a process for good, also when its pid is used again or
// the machine was started again. It is empty for a process that is not there.
func processName(pid int) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name before the last parenthesis may hold anything; the start time
	// is field 22, the first one behind it field 3.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fmt.Sprintf("%s/%d/%s", strings.TrimSpace(string(boot)), pid, fields[19])
}

// isGone tells whether the process of that name is known to be gone.
func isGone(name string) bool {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return false
	}
	pid, err := strconv.Atoi(parts[1])
	return err == nil && processName(os.Getpid()) != "" && processName(pid) != name
}
