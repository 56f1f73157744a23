//go:build !unix

package catalog

// openNonblock is of no use where file systems hold no FIFOs.
const openNonblock = 0

// openNoFollow is of no use where it takes rights to make a symbolic link.
const openNoFollow = 0
