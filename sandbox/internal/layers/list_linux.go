package layers

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/ignored"
)

// maxListedNames is how many names a listing reads.
const maxListedNames = 100_000

// List returns what is in a directory, and in those below it so many levels deep,
// sorted by path: no more than most, and more says so. Links are what they lead
// to, and are not gone into. What is missing for programs is left out, and so is
// what tools put beside what people write, as package ignored has it.
func (o *Opened) List(depth, most int) (entries []Entry, more bool, err error) {
	l := lister{walker: o.w, most: most, names: maxListedNames}
	if err := l.in(o.w.dir(), o.Path, depth); err != nil {
		return nil, false, err
	}
	slices.SortFunc(l.entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	if len(l.entries) > most {
		l.entries, l.more = l.entries[:most], true
	}
	return l.entries, l.more, nil
}

// lister lists directories of a share.
type lister struct {
	*walker
	most, names int // that there may be, and that may still be read
	entries     []Entry
	more        bool
}

// in lists a directory. The first of its names are those of all that are listed.
func (l *lister) in(s stack, path string, depth int) error {
	names, err := s.names(l.names)
	if err != nil {
		return err
	}
	l.names -= len(names)
	l.more = l.more || l.names < 0
	listed := 0
	for _, name := range slices.Compact(names) {
		if listed > l.most {
			l.more = true
			break
		}
		if ignored.Name(name) {
			continue
		}
		entry, layers, ok := l.entry(s, path, name)
		if !ok {
			continue
		}
		listed++
		l.entries = append(l.entries, entry)
		if layers != nil && depth > 1 && l.names > 0 {
			if err := l.below(s, name, layers, entry.Path, depth-1); err != nil && !isGone(err) && !isDenied(err) {
				return err
			}
		}
	}
	return nil
}

// entry is one name of a directory. layers are those of a directory that is no
// link.
func (l *lister) entry(s stack, dir, name string) (e Entry, layers []int, ok bool) {
	e.Path = strings.TrimPrefix(dir+"/"+name, "./")
	layers, stat, err := s.lookup(name)
	if err != nil || layers == nil {
		return e, nil, false
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFDIR:
		e.Dir = true
		return e, layers, true
	case unix.S_IFLNK:
		target := walker{path: l.path, top: l.top, owner: l.owner}
		defer target.back(0)
		found, err := target.walk(e.Path)
		if err != nil || found.layer < 0 {
			return e, nil, false
		}
		stat = found.stat
	}
	e.Dir, e.Size = stat.Mode&unix.S_IFMT == unix.S_IFDIR, stat.Size
	if e.Dir {
		e.Size = 0
	}
	return e, nil, e.Dir || stat.Mode&unix.S_IFMT == unix.S_IFREG
}

// below lists a directory of one.
func (l *lister) below(s stack, name string, layers []int, path string, depth int) error {
	below, _, err := s.open(name, layers)
	defer below.close()
	if err != nil {
		return err
	}
	if stat, err := below.self(); err != nil || !l.owner.may(&stat, mayRead) || !l.owner.may(&stat, mayEnter) {
		return err
	}
	return l.in(below, path, depth)
}

// names returns the names in all directories of a stack, sorted, with those that
// are hidden; there may be more where there are more than limit.
func (s stack) names(limit int) (names []string, err error) {
	for _, d := range s {
		if d == noDir {
			continue
		}
		again, err := d.open(".") // from the beginning, whoever has read d
		if err != nil {
			return nil, err
		}
		more, err := again.names(limit - len(names))
		again.close()
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	slices.Sort(names)
	return names, nil
}
