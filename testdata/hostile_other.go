//go:build !unix

package testdata

import "errors"

// addSpecial logs what this platform lacks.
func addSpecial(b builder) {
	b.try("FIFOs, sockets, devices, sparse files, odd names and unreadable files", errors.ErrUnsupported)
}
