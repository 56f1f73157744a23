package overlay

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
)

const (
	// mostEntries is how much a set may hold, and how much of the user's it may
	// delete, together.
	mostEntries = 250_000
	// mostBytes is how much the files in a set may hold together. Sparse ones cost
	// programs nothing, and time to read.
	mostBytes = 8 << 30
	// digestBytes is the size of the largest file of the user's that is
	// digested without need: only to know it again where its time changed.
	digestBytes = 64 << 20
)

// scanner makes a snapshot. What it reads may be changing.
type scanner struct {
	ctx          context.Context
	upper, lower *files.Tree // lower is nil where there is none
	record       *Known
	since        int64

	known   map[string]*Item
	sorted  []string // paths of known
	covered map[string]bool
	moved   map[string]bool // directories of the user's, see movedSince
	left    int             // of mostEntries
	bytes   int64           // of mostBytes
	names   map[uint64]linked
	out     *Snapshot
}

// linked counts the names of an inode that has more than one.
type linked struct {
	links uint64
	paths []int // in Snapshot.Entries
}

// Scan compares an upper directory with the user's, by what is remembered of
// it. The error may be [ErrTooLarge].
func Scan(ctx context.Context, upper, lower *files.Tree, known *Known) (*Snapshot, error) {
	s := &scanner{
		ctx: ctx, upper: upper, lower: lower, record: known, since: known.Since, left: mostEntries, bytes: mostBytes,
		known: map[string]*Item{}, covered: map[string]bool{}, moved: map[string]bool{}, names: map[uint64]linked{},
		out: &Snapshot{At: time.Now().UnixNano(), Items: map[string]*Item{}, Covers: map[string]bool{}, Kept: map[string]string{}},
	}
	if lower != nil {
		s.since -= files.StampError(lower)
	}
	for _, i := range known.Items {
		s.known[i.Path] = i
		s.sorted = append(s.sorted, i.Path)
	}
	slices.Sort(s.sorted)
	for _, c := range known.Covers {
		s.covered[c] = true
	}
	if upper != nil {
		if err := s.walk(".", view{}); err != nil {
			return nil, err
		}
	}
	s.foreignLinks()
	slices.SortFunc(s.out.Entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return s.out, nil
}

// view is what programs see of the user's directory below a path.
type view struct {
	hidden bool // nothing: something in the upper directory covers it
	sealed bool // and all that it covers is known already
	absent bool // there is nothing of the user's
}

func (s *scanner) spend() error {
	if s.left--; s.left < 0 {
		return ErrTooLarge
	}
	return s.ctx.Err()
}

// walk takes what is in a directory.
func (s *scanner) walk(dir string, v view) error {
	names, err := s.upper.Names(dir, s.left)
	if err != nil {
		if dir == "." {
			return err
		}
		s.refuse(dir, &files.State{Mode: fs.ModeDir}, files.Reason(err))
		return nil
	}
	slices.Sort(names)
	for _, name := range names {
		if err := s.spend(); err != nil {
			return err
		}
		if err := s.entry(path.Join(dir, name), v); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanner) refuse(p string, now *files.State, why string) {
	s.out.Entries = append(s.out.Entries, Entry{Path: p, now: now, Refused: why})
}

// entry takes one path, and what is below it.
func (s *scanner) entry(p string, v view) error {
	now, err := s.upper.Stat(p)
	switch {
	case files.Missing(err):
		return nil // it was there a moment ago
	case err != nil:
		s.refuse(p, &files.State{}, files.Reason(err))
		return nil
	case !utf8.ValidString(p):
		s.refuse(p, now, "its name is no UTF-8")
		return nil
	case len(p) > files.MaxPath:
		s.refuse(p, now, "its path is too long")
		return nil
	case now.Whiteout():
		s.out.Entries = append(s.out.Entries, Entry{Path: p, now: now, white: true})
		return s.delete(p, v)
	case now.Special():
		s.refuse(p, now, "it is a device, a FIFO or a socket")
		return nil
	}
	if now.Dir() {
		return s.directory(p, now, v)
	}
	return s.leaf(p, now, v)
}

// delete takes a whiteout.
func (s *scanner) delete(p string, v view) error {
	base, conflict := s.base(p, v)
	if base == nil && conflict == "" {
		return nil
	}
	s.add(&Item{Path: p, Base: base, Conflict: conflict})
	if base.Dir() {
		return s.cover(p, v)
	}
	return nil
}

// leaf takes a regular file or a symbolic link.
func (s *scanner) leaf(p string, now *files.State, v view) error {
	if s.bytes -= now.Size; s.bytes < 0 {
		s.bytes += now.Size
		s.refuse(p, now, "it is larger than what can be looked at, with all else that is held")
		return nil
	}
	if now.Regular() {
		if err := s.digestNow(p, now); err != nil {
			s.refuse(p, now, files.Reason(err))
			return nil
		}
	}
	if now.Links > 1 {
		group := s.names[now.Inode]
		s.names[now.Inode] = linked{now.Links, append(group.paths, len(s.out.Entries))}
	}
	s.out.Entries = append(s.out.Entries, Entry{Path: p, now: now})
	base, conflict := s.base(p, v)
	if base.Regular() && base.Digest == "" && conflict == "" && (base.Size == now.Size || base.Size <= digestBytes) {
		conflict = s.digestBase(p, base)
	}
	s.add(&Item{Path: p, Base: base, Now: now, Conflict: conflict})
	if base.Dir() {
		return s.cover(p, v)
	}
	return nil
}

// digestNow digests a held file, if that was not done before.
func (s *scanner) digestNow(p string, now *files.State) error {
	if known := s.known[p]; known != nil && known.Now != nil && known.Now.Digest != "" && known.Now.SameFile(now) && s.record.settled(now) {
		now.Digest = known.Now.Digest
		return nil
	}
	return s.upper.Digest(p, now)
}

// digestBase digests a file of the user's, or says that it is changing.
func (s *scanner) digestBase(p string, base *files.State) (conflict string) {
	if s.lower == nil {
		return ""
	}
	if err := s.lower.Digest(p, base); errors.Is(err, files.ErrChanging) {
		return changedMeanwhile
	}
	return "" // what cannot be read is known by its times
}

// directory takes a directory, and what is in it.
func (s *scanner) directory(p string, now *files.State, v view) error {
	opaque := s.opaque(p)
	s.out.Entries = append(s.out.Entries, Entry{Path: p, now: now, opaque: opaque})
	base, conflict := s.base(p, v)
	within := v
	if s.covered[p] {
		within.hidden, within.sealed = true, true
	}
	switch {
	case base == nil:
		s.add(&Item{Path: p, Now: now, Conflict: conflict})
		within.absent = !within.sealed
	case !base.Dir():
		s.add(&Item{Path: p, Base: base, Now: now, Conflict: conflict})
		within.absent = true
	default:
		s.add(&Item{Path: p, Base: base, Now: now, Conflict: conflict})
		within.hidden = within.hidden || opaque
	}
	if err := s.walk(p, within); err != nil {
		return err
	}
	if !within.hidden || within.absent && !within.sealed {
		return nil
	}
	return s.cover(p, v)
}

// opaque reports whether a directory hides what is below it. Where that cannot
// be read it does: what is hidden stays hidden, and nothing is deleted that way
// which is not listed.
func (s *scanner) opaque(p string) bool {
	fd, err := s.upper.Open(p, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return false // it is refused, and nothing in it is looked at
	}
	defer unix.Close(fd)
	value := make([]byte, 8)
	n, err := unix.Fgetxattr(fd, files.OpaqueName, value)
	return err == nil && n == 1 && value[0] == 'y'
}

// cover takes all that a path hides, which is a directory of the user's, as
// deleted, but what is in the upper directory again.
func (s *scanner) cover(p string, v view) error {
	if v.hidden {
		return nil // what covers p covers this too
	}
	s.out.Covers[p] = true
	if s.covered[p] || s.lower == nil {
		s.coverKnown(p)
		return nil
	}
	return s.coverLower(p)
}

func (s *scanner) coverKnown(p string) {
	first, _ := slices.BinarySearch(s.sorted, p+"/")
	for _, q := range s.sorted[first:] {
		if !files.Below(q, p) {
			break
		}
		if known := s.known[q]; known.Base != nil {
			s.addDeleted(&Item{Path: q, Base: known.Base, Conflict: known.Conflict})
		}
	}
}

func (s *scanner) coverLower(p string) error {
	names, err := s.lower.Names(p, s.left)
	if err != nil {
		if !files.Missing(err) {
			s.out.Kept[p] = files.Reason(err)
		}
		return nil
	}
	for _, name := range names {
		if err := s.spend(); err != nil {
			return err
		}
		q := path.Join(p, name)
		switch {
		case !utf8.ValidString(q):
			s.out.Kept[q] = "its name is no UTF-8"
			continue
		case len(q) > files.MaxPath:
			s.out.Kept[q] = "its path is too long"
			continue
		}
		base, conflict := s.base(q, view{})
		if base == nil {
			continue
		}
		s.addDeleted(&Item{Path: q, Base: base, Conflict: conflict})
		if !base.Dir() {
			continue
		}
		if s.covered[q] {
			s.coverKnown(q)
		} else if err := s.coverLower(q); err != nil {
			return err
		}
	}
	return nil
}

// add takes an item that is in the upper directory.
func (s *scanner) add(i *Item) { s.out.Items[i.Path] = i }

// addDeleted takes an item unless something is there, or a directory that is
// there as it was.
func (s *scanner) addDeleted(i *Item) {
	if _, taken := s.out.Items[i.Path]; taken || s.inUpper(i.Path) {
		return
	}
	s.add(i)
}

// inUpper reports whether a path is a directory that has no item, since it is
// as the user's.
func (s *scanner) inUpper(p string) bool {
	st, err := s.upper.Stat(p)
	return err == nil && !st.Whiteout()
}

const changedMeanwhile = "it was changed while programs ran"

// base returns what the user had at a path when programs changed it, without a
// digest where it is new, and whether that is not what they saw.
func (s *scanner) base(p string, v view) (base *files.State, conflict string) {
	if known := s.known[p]; known != nil {
		return known.Base, known.Conflict
	}
	if v.sealed || v.absent || s.lower == nil {
		return nil, ""
	}
	base, err := s.lower.Stat(p)
	switch {
	case files.Missing(err):
		return nil, ""
	case err != nil:
		return nil, "its directory is another now: " + files.Reason(err)
	case !base.Dir() && base.Changed >= s.since, s.movedSince(path.Dir(p)):
		return base, changedMeanwhile
	}
	return base, ""
}

// movedSince reports whether a directory of the user's, or one above it, was put
// where it is while programs ran. What is in it has old times then. A directory
// in which names were made or removed has two times that are the same.
func (s *scanner) movedSince(dir string) bool {
	if dir == "." {
		return false
	}
	if moved, known := s.moved[dir]; known {
		return moved
	}
	st, err := s.lower.Stat(dir)
	moved := err == nil && st.Changed >= s.since && st.Changed != st.Modified || s.movedSince(path.Dir(dir))
	s.moved[dir] = moved
	return moved
}

// foreignLinks refuses files that have a name outside of the set.
func (s *scanner) foreignLinks() {
	for _, group := range s.names {
		if uint64(len(group.paths)) == group.links {
			continue
		}
		for _, at := range group.paths {
			e := &s.out.Entries[at]
			e.Refused = "it is linked from elsewhere"
			delete(s.out.Items, e.Path)
		}
	}
}
