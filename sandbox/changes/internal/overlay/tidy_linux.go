package overlay

import (
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/steps"
)

// tidying takes out of an upper directory what is not held any more. Nobody
// uses the set.
type tidying struct {
	upper, lower *files.Tree // lower is nil where the target is gone
	found        *Snapshot
	remaining    map[string]*Item
	refusedStay  func(path string) bool

	covers map[string]bool // that there are afterwards
	same   map[string]bool // those of them below which nothing changes
	gone   map[string]bool // covers that were whiteouts
}

// Tidy leaves in the upper directory what remains, and of what cannot be applied
// the paths that refusedStay reports, and nothing else. Afterwards the user's files
// are seen again where nothing is held, and Covers are those that are left. Lower is
// nil where the user's directory is gone.
func (s *Snapshot) Tidy(upper, lower *files.Tree, remaining map[string]*Item, refusedStay func(path string) bool) error {
	t := tidying{
		upper: upper, lower: lower, found: s, remaining: remaining, refusedStay: refusedStay,
		covers: map[string]bool{}, same: map[string]bool{}, gone: map[string]bool{},
	}
	if err := t.run(); err != nil {
		return err
	}
	s.Covers = t.covers
	return nil
}

func (t *tidying) run() error {
	for c := range t.found.Covers {
		if err := t.uncover(c); err != nil {
			return err
		}
	}
	for _, e := range t.found.Entries {
		// One that stays only for what is in it must not hide what was applied.
		if e.opaque && t.remaining[e.Path] == nil && !within(e.Path, t.same) {
			if err := t.upper.ClearOpaque(e.Path); err != nil {
				return err
			}
		}
	}
	for _, e := range slices.Backward(t.found.Entries) {
		if err := t.entry(e); err != nil {
			return err
		}
		steps.Fault("left")
	}
	return nil
}

// entry removes a path if it does not remain.
func (t *tidying) entry(e Entry) error {
	if e.Refused != "" {
		if t.refusedStay(e.Path) {
			return nil
		}
		return t.upper.RemoveAll(e.Path)
	}
	if t.gone[e.Path] || within(e.Path, t.same) {
		return nil
	}
	if i := t.remaining[e.Path]; i != nil && e.white == (i.Now == nil) {
		return nil
	}
	if e.now.Dir() {
		return t.directory(e)
	}
	return t.upper.Remove(e.Path, 0)
}

// within reports whether a path is one of dirs or below one.
func within(p string, dirs map[string]bool) bool {
	for ; p != "."; p = path.Dir(p) {
		if dirs[p] {
			return true
		}
	}
	return false
}

// directory removes one that is empty. One that is not gets the mode of the
// user's, if there is one.
func (t *tidying) directory(e Entry) error {
	err := t.upper.Remove(e.Path, unix.AT_REMOVEDIR)
	if !files.IsErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
		return err
	}
	if t.lower == nil {
		return nil
	}
	if users, err := t.lower.Stat(e.Path); err == nil && users.Dir() && users.Mode != e.now.Mode {
		return t.upper.Chmod(e.Path, uint32(users.Mode.Perm()))
	}
	return nil
}

// uncover shows the user's directory again that a path hides, unless all below
// remains as it is.
func (t *tidying) uncover(c string) error {
	at, found := slices.BinarySearchFunc(t.found.Entries, c, func(e Entry, c string) int { return strings.Compare(e.Path, c) })
	if !found {
		return nil
	}
	e := t.found.Entries[at]
	switch {
	case t.whole(c):
		t.covers[c], t.same[c] = true, true
		return nil
	case e.now.Dir():
		return t.clear(c)
	case t.remaining[c] != nil: // what hides it stays, and with it what it hides
		t.covers[c] = true
		return nil
	case !e.white:
		return nil
	}
	t.gone[c] = true
	if err := t.upper.Remove(c, 0); err != nil {
		return err
	}
	return t.placeAll(c)
}

// whole reports whether all items below a path remain.
func (t *tidying) whole(c string) bool {
	for p := range t.found.Items {
		if files.Below(p, c) && t.remaining[p] == nil {
			return false
		}
	}
	return true
}

// clear makes an opaque directory one that hides nothing but what remains
// deleted.
func (t *tidying) clear(c string) error {
	if err := t.placeAll(c); err != nil {
		return err
	}
	for _, e := range t.found.Entries {
		if e.opaque && files.Below(e.Path, c) {
			if err := t.upper.ClearOpaque(e.Path); err != nil {
				return err
			}
		}
	}
	return nil
}

// placeAll makes whiteouts for what remains deleted below a path, but where a
// file hides it.
func (t *tidying) placeAll(c string) error {
	covered := ""
	for _, p := range t.found.Paths() {
		i := t.remaining[p]
		if i == nil || i.Now.Dir() || !files.Below(p, c) || covered != "" && files.Below(p, covered) {
			continue
		}
		if i.Now == nil {
			if err := t.place(p, c); err != nil {
				return err
			}
		}
		if i.Base.Dir() {
			covered, t.covers[p] = p, true
		}
	}
	return nil
}

// place makes one whiteout, and the directories above it where they are not
// there.
func (t *tidying) place(p, c string) error {
	var above []string
	for dir := path.Dir(p); files.Below(dir, c); dir = path.Dir(dir) {
		above = append(above, dir)
	}
	for _, dir := range slices.Backward(above) {
		i := t.found.Items[dir]
		if i == nil || i.Base == nil {
			continue // it is there
		}
		if err := t.upper.Mkdir(dir, i.Base); err != nil {
			return err
		}
	}
	return t.upper.Whiteout(p)
}
