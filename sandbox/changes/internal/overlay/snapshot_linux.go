package overlay

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// Entry is one path in an upper directory.
type Entry struct {
	Path    string
	Refused string // why it cannot be applied
	now     *files.State
	white   bool
	opaque  bool
}

// Snapshot is what an upper directory holds above the user's.
type Snapshot struct {
	At      int64   // when it was taken, in nanoseconds since 1970
	Entries []Entry // sorted by path, so that a directory is before what is in it
	// Items are what programs changed or touched, by path.
	Items map[string]*Item
	// Covers are the paths that hide what the user has below them.
	Covers map[string]bool
	// Kept are paths of the user's that cannot be deleted, and why.
	Kept map[string]string
}

// Paths returns those of the items, sorted.
func (s *Snapshot) Paths() []string { return slices.Sorted(maps.Keys(s.Items)) }

// Digest identifies the state to who has the key: 8 hex digits.
func (s *Snapshot) Digest(key []byte) string {
	hash := hmac.New(sha256.New, key)
	for _, e := range s.Entries {
		fmt.Fprintf(hash, "%q %v %d %q %q %v %v %q\n", e.Path, e.now.Mode, e.now.Size, e.now.Digest, e.now.Link, e.white, e.opaque, e.Refused)
	}
	for _, p := range s.Paths() {
		if s.Items[p].Now == nil {
			fmt.Fprintf(hash, "%q deleted\n", p)
		}
	}
	return hex.EncodeToString(hash.Sum(nil)[:4])
}
