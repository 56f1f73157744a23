package cgroup

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/dirlock"
)

// lockTimeout is how long the last process of a server may take to die that
// was killed while it started another one, which has the lock too until then.
const lockTimeout = time.Second

// sweep removes what servers that are no more have left in a directory. That a
// process id is unknown here does not prove it, as the server may be in
// another PID namespace; but the kernel keeps its lock while it lives.
func sweep(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, namePrefix+"*")) // the pattern is well-formed
	names = slices.DeleteFunc(names, func(name string) bool { return !isOrphan(name) })
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(time.Millisecond) {
		names = slices.DeleteFunc(names, sweepOne)
		if len(names) == 0 || time.Now().After(deadline) {
			return
		}
	}
}

// isOrphan reports that no process has the id of a cgroup's server.
func isOrphan(name string) bool {
	owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), namePrefix), "-")
	pid, err := strconv.Atoi(owner)
	return err == nil && unix.Kill(pid, 0) == unix.ESRCH
}

// sweepOne removes a cgroup, and reports whether nothing more can be done.
func sweepOne(name string) bool {
	file, err := dirlock.Try(name)
	if err != nil {
		return !errors.Is(err, unix.EWOULDBLOCK)
	}
	defer file.Close()
	write(name, killFile, "1") // fails where there is no such file
	remove(name)               // works once it is empty
	return true
}
