// Package merged reads and writes single files of what programs see of a
// [sandbox.Share], for tools that need no program for it: through all of its
// layers, without what they hide, and into its changes and never the user's own
// files:
//
//	opened, err := merged.Open(share, "docs/plan.md", may)
//	created, err := merged.Write(ctx, share, "docs/plan.md", edit)
//
// Paths are relative to the share. Symbolic links are followed as programs would
// follow them, through what the layers hold together, and none out of the share;
// where a path lands is told before anything is opened there. Nothing that
// programs left is trusted, and they may be changing it meanwhile.
//
// Only Linux has shares; elsewhere the error is [errors.ErrUnsupported].
package merged

import (
	"context"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// What errors of this package may be or wrap, besides [fs.ErrNotExist],
// [fs.ErrPermission] and those of the system.
var (
	// ErrOutside means that a path leads out of the share.
	ErrOutside = layers.ErrOutside
	// ErrSpecial means that it leads to a device, FIFO or socket.
	ErrSpecial = layers.ErrSpecial
	// ErrDirectory means that it leads to a directory, where a file is needed.
	ErrDirectory = layers.ErrDirectory
	// ErrTooLarge means that a file is too large to be edited.
	ErrTooLarge = layers.ErrTooLarge
	// ErrNoChanges means that the place for changes is none that can be used.
	ErrNoChanges = layers.ErrNoChanges
)

// Opened is a file or directory as programs see it.
type Opened = layers.Opened

// Entry is a file or directory in a listing.
type Entry = layers.Entry

// Open opens what programs see at a path. may is called with the path where that
// lands, which goes through no link, before anything is opened there, whether it
// is there or not; its error is that of Open. Runs need not be waited for: what
// they changed so far is seen, where they change no copy.
func Open(share sandbox.Share, path string, may func(path string) error) (*Opened, error) {
	return layers.Open(share, path, may)
}

// Edit is what [Write] makes of a file.
type Edit = layers.Edit

// Write puts a whole new file into the changes to a share, in the place of what
// programs see at a path, with its permissions, and the directories that lead to
// it; created reports that there was nothing. It waits until no run uses the same
// changes, and fails when ctx ends. The error may be that of the edit.
func Write(ctx context.Context, share sandbox.Share, path string, edit Edit) (created bool, err error) {
	unlock, err := process.LockChanges(ctx, share)
	if err != nil {
		return false, err
	}
	defer unlock()
	return layers.Put(share, path, edit)
}
