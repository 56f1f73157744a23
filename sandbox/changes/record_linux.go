package changes

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
)

// item is one path that programs changed, or only touched.
type item struct {
	Path string `json:"path"`
	// Base is what the user had there when programs changed it; nil is nothing.
	Base *state `json:"base,omitempty"`
	// Now is what the set has there; nil is nothing.
	Now *state `json:"now,omitempty"`
	// Conflict says why Base is not what programs saw.
	Conflict string `json:"conflict,omitempty"`
}

// unchanged reports whether programs left the path as it was.
func (i *item) unchanged() bool {
	return i.Conflict == "" && i.Base != nil && i.Now != nil && (i.Base.sameFile(i.Now) || i.Base.sameContent(i.Now))
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
func (r *record) settled(s *state) bool { return s.Changed < r.At-int64(filestat.SettleTime) }

func sameItem(a, b *item) bool {
	return a.Path == b.Path && a.Conflict == b.Conflict && sameOrNone(a.Base, b.Base) && sameOrNone(a.Now, b.Now)
}

func sameOrNone(a, b *state) bool {
	return a == nil && b == nil || a != nil && b != nil && a.sameFile(b) && a.Digest == b.Digest && a.Link == b.Link
}

// root is what a target's directory is, to find out whether another one has its
// path.
type root struct {
	Inode uint64 `json:"inode"`
	Born  int64  `json:"born,omitempty"` // nanoseconds since 1970; zero if not known
}

// identity is what never changes of a set.
type identity struct {
	Target  Target    `json:"target"`
	Root    root      `json:"root"`
	Key     []byte    `json:"key"` // of the digests in ids
	Created time.Time `json:"created"`
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

// writeJSON writes a file so that it is the old or the new one whenever this
// process is killed, and, where it is synced, whenever the machine stops.
func writeJSON(file string, from any, sync bool) error {
	data, err := json.Marshal(from)
	if err != nil {
		return err
	}
	temp, err := os.OpenFile(file+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err == nil && sync {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), file); err != nil || !sync {
		return err
	}
	return syncDir(filepath.Dir(file))
}

func syncDir(dir string) error {
	opened, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(opened.Sync(), opened.Close())
}

// below reports whether a path is dir or lies below it.
func below(p, dir string) bool {
	return p == dir || dir == "." || strings.HasPrefix(p, dir) && p[len(dir)] == '/'
}

// missing reports whether an error says that something is not there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || isErrno(err, notDir)
}
