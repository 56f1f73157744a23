// Package index keeps on disk what a scan read of directories and entry
// documents, each with the state that it had, so that the next process reads
// again only what is in another state.
//
// An index is believed only in what its reader finds unchanged. It is damaged
// where it does not add up, and then is of no use as a whole.
package index

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/metadata"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// Directory is one in which skills are looked for.
type Directory struct {
	Name string // in the directory that it is in
	// Target is what it is a symbolic link to, without links, or empty.
	Target  string
	InSkill bool
	// State is that of its listing, or zero where it is to be listed again. Then
	// there is no Entry.
	State    filestat.State
	Entry    string // the name of the entry document, or empty
	HasTools bool
	Document *Document // what was read of the entry document; nil for nothing
	// Links are symbolic links to directories. They and Directories are sorted by
	// name.
	Directories, Links []Directory
}

// Document is what was read of an entry document.
type Document struct {
	State    filestat.State
	Sum      [sha256.Size]byte  // of its head
	Metadata *metadata.Metadata // nil where it is of no use
	// Problems are those of the document. No file, hint or winner is kept of them.
	Problems []problem.Problem
}

// Index is what was read below one root.
type Index struct {
	// Key says of what, by which rules, and by which program: an index with
	// another one is of no use.
	Key string
	// Written is when, in nanoseconds since 1970. All states were settled by then.
	Written int64
	Root    Directory // its name is empty
}

var (
	// ErrOther is an index of something else, or of another program.
	ErrOther = errors.New("it is another index")
	// ErrDamaged is no index, or one that does not add up.
	ErrDamaged = errors.New("it is damaged")
)

const (
	// MaxBytes is how long an index may be.
	MaxBytes = 32 << 20
	maxDepth = 32
)

// settled reports whether what was read in a state by a time is all that can be
// read in it.
func settled(state filestat.State, written int64) bool {
	return state.Known() && state.Settled(time.Unix(0, written))
}
