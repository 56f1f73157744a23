package changes

import (
	"context"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/overlay"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/steps"
)

// verdict is a change with what is known of it.
type verdict struct {
	item    *overlay.Item // nil where what is in the set is nothing that can be applied
	change  Change
	refused string
}

// Held returns what the set holds, judged. It costs what was changed. While
// programs use the set it is what they did so far.
func (x *Set) Held(ctx context.Context, judge Judge) (Held, error) {
	l, err := x.look(ctx, judge, false)
	if err != nil {
		return Held{}, err
	}
	defer l.close()
	if err := l.scan(); err != nil {
		return Held{}, err
	}
	return l.held(), nil
}

func (l *look) id() string {
	return idPrefix + l.set.name + "-" + l.Digest(l.set.Key)
}

// held lists what is in the snapshot.
func (l *look) held() Held {
	held := Held{ID: l.id(), Files: []Change{}, Refused: []Refusal{}}
	for _, v := range l.verdicts() {
		switch {
		case v.refused == "" && len(held.Files) < MaxListed:
			held.Files = append(held.Files, v.change)
		case v.refused == "":
			held.OmittedFiles++
		case len(held.Refused) < MaxListed:
			held.Refused = append(held.Refused, Refusal{v.change.Path, v.refused})
		default:
			held.OmittedRefused++
		}
	}
	return held
}

// verdicts returns all changes, sorted by path.
func (l *look) verdicts() []verdict {
	var all []verdict
	for _, p := range l.Paths() {
		all = append(all, l.judged(l.Items[p])...)
	}
	for _, e := range l.Entries {
		if e.Refused != "" {
			all = append(all, verdict{change: Change{Path: shown(e.Path), Kind: Added}, refused: e.Refused})
		}
	}
	for p, why := range l.Kept {
		all = append(all, verdict{change: Change{Path: shown(p), Kind: Deleted}, refused: why})
	}
	slices.SortStableFunc(all, func(a, b verdict) int { return strings.Compare(a.change.Path, b.change.Path) })
	refuseShells(all)
	return all
}

// refuseShells refuses directories that programs made and of whose content all is
// refused: applied, an empty one would be left, such as a .git.
func refuseShells(all []verdict) {
	inside, free := map[string]bool{}, map[string]bool{} // by directory
	for at := len(all) - 1; at >= 0; at-- {              // what is in a directory comes behind it
		v := &all[at]
		p := v.change.Path
		if v.refused == "" && v.change.Kind == Added && v.change.Mode.IsDir() && inside[p] && !free[p] {
			v.refused = "nothing of what is in it can be applied"
		}
		inside[path.Dir(p)] = true
		free[path.Dir(p)] = free[path.Dir(p)] || v.refused == ""
	}
}

func shown(p string) string { return strings.ToValidUTF8(p, string(utf8.RuneError)) }

// judged returns the changes that an item is: two where a directory became
// something else, or something else a directory; none where the user has the
// same already.
func (l *look) judged(i *overlay.Item) []verdict {
	if i.Unchanged() {
		return nil
	}
	conflict, done := i.Conflict, false
	if l.lower != nil {
		conflict, done = l.conflict(i)
	}
	if done {
		return nil
	}
	var all []verdict
	for _, c := range changesOf(i) {
		c.Conflict = conflict
		all = append(all, verdict{item: i, change: c, refused: l.refusal(i, c)})
	}
	return all
}

func changesOf(i *overlay.Item) []Change {
	removed := Change{Path: i.Path, Kind: Deleted}
	if i.Base != nil {
		removed.Mode = i.Base.Mode
	}
	if i.Now == nil {
		return []Change{removed}
	}
	made := Change{Path: i.Path, Kind: Modified, Mode: i.Now.Mode, Size: i.Now.Size, Digest: i.Now.Digest, Link: i.Now.Link}
	switch {
	case i.Base == nil:
		made.Kind = Added
	case i.Twofold():
		made.Kind = Added
		return []Change{removed, made}
	case i.ModeOnly():
		made.Kind = Mode
	}
	return []Change{made}
}

// conflict says why the user's file is not what programs saw, or that it is
// what they made already.
func (l *look) conflict(i *overlay.Item) (conflict string, done bool) {
	now, err := l.lower.StatIfThere(i.Path)
	if err != nil {
		return files.Reason(err), false
	}
	if l.lower.Is(i.Path, now, i.Now) {
		return "", true
	}
	if i.Conflict != "" {
		return i.Conflict, false
	}
	if l.lower.Is(i.Path, now, i.Base) {
		return "", false
	}
	return steps.Differs(now, i.Base), false
}

// refusal says why a change cannot be made, whatever the user has.
func (l *look) refusal(i *overlay.Item, c Change) string {
	if i.Base.Special() {
		return "the user's is a device, a FIFO or a socket"
	}
	if why := excludes(l.set.Target().Files, c); why != "" {
		return why
	}
	if l.judge != nil {
		if why := l.judge(i.Path, c); why != "" {
			return why
		}
	}
	if c.Kind != Deleted && i.Now.Symlink() {
		return l.refuseLink(i, c)
	}
	return ""
}

// excludes says why a change is none of what programs were shown of a target, of
// which these are the files.
func excludes(files []string, c Change) string {
	switch {
	case len(files) == 0:
		return ""
	case !slices.Contains(files, c.Path):
		return "only single files of the directory are shared, and it is none of them"
	case c.Kind != Deleted && !c.Mode.IsRegular():
		return "it is shared as a file, and would be one no more"
	}
	return ""
}

const linkOutside = "it is a symbolic link that leads out of the directory"

// refuseLink judges a symbolic link by where it lands. What comes after a name
// may not go up again: a name can be a link that leads down.
func (l *look) refuseLink(i *overlay.Item, c Change) string {
	link := i.Now.Link
	if link == "" || path.IsAbs(link) || !utf8.ValidString(link) {
		return linkOutside
	}
	lands := path.Join(path.Dir(i.Path), link)
	if lands == ".." || strings.HasPrefix(lands, "../") || climbs(link) {
		return linkOutside
	}
	landings := []string{lands}
	if l.lower != nil {
		real, err := l.lower.Follow(lands)
		if err != nil {
			return linkOutside
		}
		landings = append(landings, real)
	}
	for _, p := range slices.Compact(landings) {
		if l.judge == nil {
			break
		}
		if why := l.judge(p, c); why != "" {
			return "it is a symbolic link to what must not be changed: " + why
		}
	}
	return ""
}

// climbs reports whether a path goes up after it went down.
func climbs(link string) bool {
	down := false
	for name := range strings.SplitSeq(link, "/") {
		switch name {
		case "", ".":
		case "..":
			if down {
				return true
			}
		default:
			down = true
		}
	}
	return false
}
