package cgroup

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lock opens a cgroup and marks it as one in use. The mark goes when this
// process does, in whatever way.
func lock(dir string) (*os.File, error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		return nil, os.NewSyscallError("flock", err)
	}
	return file, nil
}

// sweep removes what servers that are no more have left in a directory. That a
// process id is unknown here does not prove it, as the server may be in
// another PID namespace; but the kernel keeps its lock while it lives.
func sweep(dir string) {
	names, _ := filepath.Glob(filepath.Join(dir, namePrefix+"*")) // the pattern is well-formed
	for _, name := range names {
		owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(name), namePrefix), "-")
		if pid, err := strconv.Atoi(owner); err != nil || unix.Kill(pid, 0) != unix.ESRCH {
			continue
		}
		if file, err := lock(name); err == nil {
			write(name, killFile, "1") // fails where there is no such file
			remove(name)               // works once it is empty
			file.Close()
		}
	}
}
