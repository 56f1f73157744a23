//go:build unix

package artifact

import "syscall"

const nonblock = syscall.O_NONBLOCK
