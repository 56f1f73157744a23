//go:build !unix

// Package openflag holds flags of [os.OpenFile] for what others may have put
// in a file's place. They are zero where the system has no such files.
package openflag

// These are of no use here: directories hold no FIFOs, it takes rights to make
// a symbolic link, and to read the names of a file fails.
const (
	NonBlock   = 0
	NoFollow   = 0
	NoTerminal = 0
	Directory  = 0
)
