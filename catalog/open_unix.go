//go:build unix

package catalog

import "syscall"

// openNonblock keeps the opening of a FIFO from waiting for a writer.
const openNonblock = syscall.O_NONBLOCK
