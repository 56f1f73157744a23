package layers

import (
	"context"
	"errors"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Manifest is what a copy held when it was made, and where that came from.
type Manifest struct {
	omitted int
}

// Omitted returns how much of the share was left out of the copy.
func (m *Manifest) Omitted() int { return m.omitted }

// Merge makes a directory a copy of what programs see of a share: its layers, and
// above them, where access is [sandbox.AccessReview], its upper directory. The
// directory must be there, and be on a file system with room for it; it is the
// server's to write. Changes must be locked, and is made ready for [Store].
//
// The error wraps [ErrTooLarge], or is that of ctx or of the file system. What
// was in the directory may be lost then.
func Merge(ctx context.Context, share sandbox.Share, dir string, options Options) (*Manifest, error) {
	return nil, errors.ErrUnsupported
}

// Store writes what differs between a copy and its manifest into the upper
// directory of the share, once nothing writes to the copy any more. Each file
// comes to its name whole; what is equal to the user's own again is in upper no
// more. The manifest is what the copy holds now, for [Options.Last].
//
// The error wraps [ErrTooLarge], where nothing is stored, or is that of the file
// system, such as that the disk is full: what was stored until then is whole, and
// the rest is lost.
func Store(share sandbox.Share, dir string, made *Manifest) (Lost, error) {
	return Lost{}, errors.ErrUnsupported
}
