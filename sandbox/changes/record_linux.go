package changes

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

// item is one path that programs changed, or only touched.
type item struct {
	Path string `json:"path"`
	// Base is what the user had there when programs changed it; nil is nothing.
	Base *files.State `json:"base,omitempty"`
	// Now is what the set has there; nil is nothing.
	Now *files.State `json:"now,omitempty"`
	// Conflict says why Base is not what programs saw.
	Conflict string `json:"conflict,omitempty"`
}

// unchanged reports whether programs left the path as it was.
func (i *item) unchanged() bool {
	return i.Conflict == "" && i.Base != nil && i.Now != nil && (i.Base.SameFile(i.Now) || i.Base.SameContent(i.Now))
}

// record is what is remembered of a set between runs.
type record struct {
	// Since is the time in nanoseconds since 1970, as file systems stamp, from
	// which on a change of the user's cannot have been seen by programs.
	Since int64 `json:"since"`
	// Dirty says that programs may have changed what is not in Items yet.
	Dirty bool `json:"dirty"`
	// At is when Items were found, in nanoseconds since 1970.
	At    int64   `json:"at"`
	Items []*item `json:"items,omitempty"`
	// Covers are the paths which hide what the user has below them, and of
	// which Items have all that is there.
	Covers []string `json:"covers,omitempty"`
	// History are the last states that were applied.
	History []applied `json:"history,omitempty"`
}

// applied is a state of a set that was applied.
type applied struct {
	Held string    `json:"held"`
	Undo string    `json:"undo"`
	When time.Time `json:"when"`
}

// mostHistory is how many applied states a set remembers.
const mostHistory = 100

func (r *record) take(s *snapshot) {
	r.At = s.at
	r.Items = nil
	for _, p := range s.paths() {
		r.Items = append(r.Items, s.items[p])
	}
	r.Covers = slices.Sorted(maps.Keys(s.covers))
}

// young reports whether a file in r could have been another when r was taken
// than its times say.
func (r *record) young() bool {
	return slices.ContainsFunc(r.Items, func(i *item) bool { return i.Now != nil && !r.settled(i.Now) })
}

// settled reports whether a held file that is found in this state is the one
// that r was taken of.
func (r *record) settled(s *files.State) bool { return s.Changed < r.At-int64(filestat.SettleTime) }

func sameItem(a, b *item) bool {
	return a.Path == b.Path && a.Conflict == b.Conflict && sameOrNone(a.Base, b.Base) && sameOrNone(a.Now, b.Now)
}

func sameOrNone(a, b *files.State) bool {
	return a == nil && b == nil || a != nil && b != nil && a.SameFile(b) && a.Digest == b.Digest && a.Link == b.Link
}

// identity is what never changes of a set.
type identity struct {
	Target  Target     `json:"target"`
	Root    files.Root `json:"root"`
	Key     []byte     `json:"key"` // of the digests in ids
	Created time.Time  `json:"created"`
}

// readJSON reads a file that this package wrote.
func readJSON(file string, to any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrState, filepath.Base(file), err)
	}
	return nil
}

// below reports whether a path is dir or lies below it.
func below(p, dir string) bool {
	return p == dir || dir == "." || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}
