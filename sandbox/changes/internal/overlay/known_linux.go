package overlay

import (
	"maps"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// Known is what is remembered of an upper directory.
type Known struct {
	// Since is the time in nanoseconds since 1970, as file systems stamp, from
	// which on a change of the user's cannot have been seen by programs.
	Since int64 `json:"since"`
	// At is when Items were found, in nanoseconds since 1970.
	At    int64   `json:"at"`
	Items []*Item `json:"items,omitempty"`
	// Covers are the paths which hide what the user has below them, and of
	// which Items have all that is there.
	Covers []string `json:"covers,omitempty"`
}

// Take remembers what a snapshot found.
func (k *Known) Take(s *Snapshot) {
	k.At = s.At
	k.Items = nil
	for _, p := range s.Paths() {
		k.Items = append(k.Items, s.Items[p])
	}
	k.Covers = slices.Sorted(maps.Keys(s.Covers))
}

// Young reports whether a file in k could have been another when k was taken
// than its times say.
func (k *Known) Young() bool {
	return slices.ContainsFunc(k.Items, func(i *Item) bool { return i.Now != nil && !k.settled(i.Now) })
}

// settled reports whether a held file that is found in this state is the one
// that k was taken of.
func (k *Known) settled(s *files.State) bool { return s.Changed < k.At-int64(filestat.SettleTime) }

// SameItem reports whether two items say the same.
func SameItem(a, b *Item) bool {
	return a.Path == b.Path && a.Conflict == b.Conflict && sameOrNone(a.Base, b.Base) && sameOrNone(a.Now, b.Now)
}

func sameOrNone(a, b *files.State) bool {
	return a == nil && b == nil || a != nil && b != nil && a.SameFile(b) && a.Digest == b.Digest && a.Link == b.Link
}
