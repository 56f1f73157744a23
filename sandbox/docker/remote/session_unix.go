//go:build unix

package remote

import "syscall"

// ownSession keeps the signals of a terminal, and its prompts, from a process:
// it is needed until what it leads to is tidied up.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
