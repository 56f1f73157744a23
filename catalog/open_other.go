//go:build !unix

package catalog

// openNonblock is of no use where file systems hold no FIFOs.
const openNonblock = 0
