package docker

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// exchange returns a map of all ids that takes two of them for each other.
func exchange(a, b int) (ids []syscall.SysProcIDMap) {
	a, b = min(a, b), max(a, b)
	add := func(to, from, size int) {
		if size > 0 {
			ids = append(ids, syscall.SysProcIDMap{ContainerID: to, HostID: from, Size: size})
		}
	}
	add(0, 0, a)
	if a == b {
		add(a, a, 1)
	} else {
		add(a, b, 1)
		add(a+1, a+1, b-a-1)
		add(b, a, 1)
	}
	add(b+1, b+1, math.MaxUint32-(b+1))
	return ids
}

// newNamespace makes a user namespace by way of a process that is stopped before
// its first instruction, and lives no longer than it takes to open it.
func newNamespace(uids, gids []syscall.SysProcIDMap) (*os.File, error) {
	runtime.LockOSThread() // who traces a process is a thread
	defer runtime.UnlockOSThread()
	process, err := os.StartProcess("/proc/self/exe", []string{"skills-mcp-owners"}, &os.ProcAttr{
		Env: []string{},
		Sys: &syscall.SysProcAttr{
			Cloneflags: unix.CLONE_NEWUSER, UidMappings: uids, GidMappings: gids,
			Ptrace: true, Pdeathsig: syscall.SIGKILL,
		},
	})
	if err != nil {
		return nil, err
	}
	defer process.Wait()
	defer process.Kill()
	return os.Open(fmt.Sprintf("/proc/%d/ns/user", process.Pid))
}
