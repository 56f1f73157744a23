//go:build unix

package contained

import "syscall"

// openFlags keep an open from waiting for the other end of a FIFO and from
// making a terminal the server's own. os.Root adds O_NOFOLLOW and O_CLOEXEC.
const openFlags = syscall.O_NONBLOCK | syscall.O_NOCTTY

// openDirectory makes the open fail on all else.
const openDirectory = syscall.O_DIRECTORY
