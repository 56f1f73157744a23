package changes

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
	found        *snapshot
	// remaining are the items that stay, and refusedStay says which entries
	// that cannot be applied do.
	remaining   map[string]*item
	refusedStay func(path string) bool

	covers map[string]bool // that there are afterwards
	same   map[string]bool // those of them below which nothing changes
	gone   map[string]bool // covers that were whiteouts
}

// run leaves in the upper directory what remains, and nothing else, and returns
// the covers that there are then. Afterwards the user's files are seen again
// where nothing is held.
func (t *tidying) run() (covers map[string]bool, err error) {
	t.covers, t.same, t.gone = map[string]bool{}, map[string]bool{}, map[string]bool{}
	for c := range t.found.covers {
		if err := t.uncover(c); err != nil {
			return nil, err
		}
	}
	for _, e := range t.found.entries {
		// One that stays only for what is in it must not hide what was applied.
		if e.opaque && t.remaining[e.path] == nil && !within(e.path, t.same) {
			if err := t.upper.ClearOpaque(e.path); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range slices.Backward(t.found.entries) {
		if err := t.entry(e); err != nil {
			return nil, err
		}
		steps.Fault("left")
	}
	return t.covers, nil
}

// entry removes a path if it does not remain.
func (t *tidying) entry(e entry) error {
	if e.refused != "" {
		if t.refusedStay(e.path) {
			return nil
		}
		return t.upper.RemoveAll(e.path)
	}
	if t.gone[e.path] || within(e.path, t.same) {
		return nil
	}
	if i := t.remaining[e.path]; i != nil && e.white == (i.Now == nil) {
		return nil
	}
	if e.now.Dir() {
		return t.directory(e)
	}
	return t.upper.Remove(e.path, 0)
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
func (t *tidying) directory(e entry) error {
	err := t.upper.Remove(e.path, unix.AT_REMOVEDIR)
	if !files.IsErrno(err, unix.ENOTEMPTY, unix.EEXIST) {
		return err
	}
	if t.lower == nil {
		return nil
	}
	if users, err := t.lower.Stat(e.path); err == nil && users.Dir() && users.Mode != e.now.Mode {
		return t.upper.Chmod(e.path, uint32(users.Mode.Perm()))
	}
	return nil
}

// uncover shows the user's directory again that a path hides, unless all below
// remains as it is.
func (t *tidying) uncover(c string) error {
	at, found := slices.BinarySearchFunc(t.found.entries, c, func(e entry, c string) int { return strings.Compare(e.path, c) })
	if !found {
		return nil
	}
	e := t.found.entries[at]
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
	for p := range t.found.items {
		if below(p, c) && t.remaining[p] == nil {
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
	for _, e := range t.found.entries {
		if e.opaque && below(e.path, c) {
			if err := t.upper.ClearOpaque(e.path); err != nil {
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
	for _, p := range t.found.paths() {
		i := t.remaining[p]
		if i == nil || i.Now.Dir() || !below(p, c) || covered != "" && below(p, covered) {
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
	for dir := path.Dir(p); below(dir, c); dir = path.Dir(dir) {
		above = append(above, dir)
	}
	for _, dir := range slices.Backward(above) {
		i := t.found.items[dir]
		if i == nil || i.Base == nil {
			continue // it is there
		}
		if err := t.upper.Mkdir(dir, i.Base); err != nil {
			return err
		}
	}
	return t.upper.Whiteout(p)
}
