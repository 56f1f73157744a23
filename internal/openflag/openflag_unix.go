//go:build unix

// Package openflag holds flags of [os.OpenFile] for what others may have put
// in a file's place. They are zero where the system has no such files.
package openflag

import "syscall"

const (
	// NonBlock keeps the opening of a FIFO from waiting for its other end.
	NonBlock = syscall.O_NONBLOCK
	// NoFollow makes the opening of a symbolic link fail.
	NoFollow = syscall.O_NOFOLLOW
	// NoTerminal keeps a terminal that is opened from becoming the process's
	// own.
	NoTerminal = syscall.O_NOCTTY
	// Directory makes the opening of all else fail.
	Directory = syscall.O_DIRECTORY
)
