//go:build unix

package secrets

import (
	"os/exec"
	"syscall"
)

// killTree has a program killed with what it started, unless that went away
// from its process group.
func killTree(run *exec.Cmd) {
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	run.Cancel = func() error { return syscall.Kill(-run.Process.Pid, syscall.SIGKILL) }
}
