// Package transfer carries what a directory holds over a stream: whole, or as
// far as it has changed. It is how runs get and give back their files where an
// engine cannot share directories with the server.
//
// A stream is a list of records, each a message of package wire: removals first,
// deepest first; then directories before what is in them, files, and links; and
// the end. Behind the record of a file come its parts, without its holes.
//
// Who receives trusts nothing: all paths are resolved inside one directory, no
// link is followed to a file that is written, what is read is bounded, and
// nothing but directories, regular files, symbolic links and hard links among
// those comes to be.
package transfer

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// kind is what a record is about.
type kind uint32

const (
	directory kind = 'd'
	file      kind = 'f'
	symlink   kind = 'l'
	hardlink  kind = 'h'
	removal   kind = 'r'
	end       kind = 'e'
)

const (
	// maxPath bounds paths and the targets of links, in bytes, as Linux does.
	maxPath = 4096
	// maxDepth is how many directories deep is looked, as where a workspace is
	// measured (disk.Measure).
	maxDepth = 64
	// maxEntries is how much a directory may hold. Runs have lower quotas.
	maxEntries = 100_000
	// chunkBytes is how much of a file is read at once.
	chunkBytes = 128 << 10
)

// ErrMalformed means that a stream is none of this package's, was cut off or
// leads elsewhere.
var ErrMalformed = errors.New("malformed transfer")

// header is a record without the content of a file.
type header struct {
	kind  kind
	path  string // slash-separated, relative, clean; of all but the end
	mode  fs.FileMode
	mtime int64 // of a file, in nanoseconds
	size  int64 // of a file, in bytes; of the end, how much cannot be carried
	// target is where a symbolic link leads to, or the path of the file of
	// which a hard link is another name.
	target string
}

// Fields implements [wire.Message].
func (h *header) Fields(t *wire.Transfer) {
	wire.Int(t, &h.kind)
	t.String(&h.path)
	wire.Int(t, &h.mode)
	wire.Int(t, &h.mtime)
	wire.Int(t, &h.size)
	t.String(&h.target)
}

// wellFormed reports whether a header can be what was sent, whatever is at its
// path. Nothing that sets an identity passes.
func (h *header) wellFormed() bool {
	if h.mode > fs.ModePerm || h.size < 0 || len(h.target) > maxPath {
		return false
	}
	switch h.kind {
	case end:
		return h.size <= maxEntries
	case symlink:
		return valid(h.path) && h.target != "" && !strings.ContainsRune(h.target, 0)
	case hardlink:
		return valid(h.path) && valid(h.target)
	case directory, file, removal:
		return valid(h.path)
	}
	return false
}

// part is what comes before some content of a file: the length of the hole
// before it, and its own. The last one has neither.
type part struct{ gap, length int64 }

// Fields implements [wire.Message].
func (p *part) Fields(t *wire.Transfer) {
	wire.Int(t, &p.gap)
	wire.Int(t, &p.length)
}

// valid reports whether a path is clean and stays below the directory to which
// it is relative. It need not be UTF-8.
func valid(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.HasPrefix(name, "../") && !path.IsAbs(name) &&
		path.Clean(name) == name && !strings.ContainsRune(name, 0) &&
		len(name) <= maxPath && strings.Count(name, "/") <= maxDepth
}

// local reports whether a valid path names what it should on this system: others
// have names that are devices here, or several names.
func local(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && filepath.ToSlash(filepath.FromSlash(name)) == name
}
