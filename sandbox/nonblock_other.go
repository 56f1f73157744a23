//go:build !unix

package sandbox

// nonblock is nothing where there are no FIFOs in directories.
const nonblock = 0
