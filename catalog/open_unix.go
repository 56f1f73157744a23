//go:build unix

package catalog

import "syscall"

// openNonblock keeps the opening of a FIFO from waiting for a writer.
const openNonblock = syscall.O_NONBLOCK

// openNoFollow keeps the opening of a file from following a symbolic link
// that took its place.
const openNoFollow = syscall.O_NOFOLLOW
