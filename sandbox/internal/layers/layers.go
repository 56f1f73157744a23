// Package layers does in user space what an overlay does in the kernel, for
// backends that cannot mount one: [Merge] makes a private copy of what is in a
// [sandbox.Share] for a program to change, and [Store] writes what became of the
// copy into the share's upper directory, in the format of overlayfs:
//
//	made, err := layers.Merge(ctx, share, dir, layers.Options{})
//	… // the program runs in dir, until its last process is dead
//	lost, err := layers.Store(share, dir, made)
//
// Meanwhile the caller has the share's Changes, with both directories in it, for
// itself.
//
// A copy holds directories, regular files and symbolic links, with their
// permissions but those that set an identity, and with their modification times,
// so that make works. Links lead where they did, hard links are separate files,
// and extended attributes are not copied. Devices, FIFOs and sockets, what the
// server's user cannot read and what is on another file system is left out.
//
// Nothing is trusted: what is read may change meanwhile, and a copy holds
// whatever programs left there. No link is followed, nothing but directories and
// regular files is opened, and nothing outside is read or written.
package layers

import "errors"

// The bounds of a copy.
const (
	// MaxEntries is how many directories, files and links it may hold.
	MaxEntries = 20_000
	// MaxBytes is the size of all its files together; holes count.
	MaxBytes = 512 << 20
	// MaxDepth is how many directories deep it may be.
	MaxDepth = 64
)

// maxStored is how many directories, files and links programs may leave in a
// copy. Runs have lower quotas.
const maxStored = 100_000

// ErrTooLarge means that a share has more than a copy may, or a copy more than
// can be stored. What wraps it says which bound that is.
var ErrTooLarge = errors.New("too large for a copy")

// ErrNoChanges means that a share's directories for changes are none in which
// these can be stored.
var ErrNoChanges = errors.New("changes cannot be kept")

// What else is wrong with a path, for [Open] and [Put].
var (
	// ErrOutside means that it leads out of the share.
	ErrOutside = errors.New("leads out of the directory")
	// ErrSpecial means that it leads to a device, FIFO or socket.
	ErrSpecial = errors.New("neither a file nor a directory")
	// ErrDirectory means that it leads to a directory, where a file is needed.
	ErrDirectory = errors.New("a directory")
)

// Options are those of [Merge]. The zero value is ready to use.
type Options struct {
	// Entries and Bytes bound the copy. If zero, or greater than these,
	// [MaxEntries] and [MaxBytes] do.
	Entries int
	Bytes   int64
	// User is whose the copy is to be, with the group of that number, where the
	// server is root. If zero, it is the server's.
	User int
	// Last is the manifest of what is in the directory, if that is a copy of the
	// same share: then only what differs is copied, whoever changed it. If nil,
	// what is in the directory is removed.
	Last *Manifest
}

// Lost is what of a copy [Store] could not store.
type Lost struct {
	// Special counts devices, FIFOs and sockets.
	Special int
	// Unstored counts what cannot be read, is too deep, or is a hard link whose
	// content may come from elsewhere.
	Unstored int
}

// Edit is what [Put] makes of a file.
type Edit struct {
	// Limit is how many bytes the file may have that is there; if zero, it is not
	// read.
	Limit int64
	// Check is called with the path that is written, which goes through no link,
	// before anything is read, and whether nothing is there. Its error is that of
	// Put.
	Check func(path string, created bool) error
	// Change returns the new bytes for those that there were, which are nil where
	// there was no file. Its error is that of Put.
	Change func(old []byte) ([]byte, error)
}

// Entry is a file or directory in a listing.
type Entry struct {
	// Path is relative to the share. Its bytes need not be UTF-8.
	Path string
	Dir  bool
	Size int64 // of a file, in bytes
}
