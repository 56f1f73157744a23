package layers

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Manifest is what a copy held when it was made, and where that came from.
type Manifest struct {
	root *node
	// uncertain reports that a file which was changed since may be in the state
	// that is noted here.
	uncertain bool
	omitted   int
}

// Omitted returns how much of the share was left out of the copy.
func (m *Manifest) Omitted() int { return m.omitted }

// Merge makes a directory a copy of what programs see of a share: its layers, and
// above them, where access is [sandbox.AccessReview], its upper directory. The
// directory must be there, and is the server's to write.
//
// The error wraps [ErrTooLarge] or [ErrNoChanges], or is that of ctx or of the file system. What
// was in the directory may be lost then.
func Merge(ctx context.Context, share sandbox.Share, dir string, options Options) (*Manifest, error) {
	options.Entries = bound(options.Entries, MaxEntries)
	options.Bytes = bound(options.Bytes, MaxBytes)
	upper := ""
	if share.Access == sandbox.AccessReview {
		if err := makeReady(share); err != nil {
			return nil, err
		}
		upper = upperOf(share)
	}
	from, err := openStack(upper, share.Layers)
	if err != nil {
		return nil, err
	}
	defer from.close()
	to, err := openDir(dir)
	if err != nil {
		return nil, err
	}
	defer to.close()
	read := time.Now()
	root, omitted, err := surveyAll(ctx, from, options)
	if err != nil {
		return nil, err
	}
	m := merger{ctx: ctx, user: options.User, bytes: options.Bytes, read: read, manifest: &Manifest{root: root, omitted: omitted}}
	if options.Last != nil {
		m.last = options.Last.root
	}
	if err := m.all(from, to); err != nil {
		return nil, err
	}
	return m.manifest, nil
}

// bound returns the smaller of two bounds, of which the first may be none.
func bound[T int | int64](asked, most T) T {
	if asked <= 0 {
		return most
	}
	return min(asked, most)
}

// surveyAll returns what is in the layers.
func surveyAll(ctx context.Context, from stack, options Options) (root *node, omitted int, err error) {
	s := surveyor{ctx: ctx, options: options, entries: options.Entries, bytes: options.Bytes, names: maxStored}
	root = new(node)
	for layer, d := range from {
		stat, err := d.self()
		if err != nil {
			return nil, 0, err
		}
		s.devices = append(s.devices, stat.Dev)
		if root.layers = append(root.layers, layer); layer == 0 {
			root.from = stampOf(&stat)
		}
	}
	root.children, err = s.survey(from, 0)
	return root, s.omitted, err
}

// merger makes a copy of what was surveyed.
type merger struct {
	ctx      context.Context
	user     int
	bytes    int64 // that may still be copied
	read     time.Time
	last     *node
	latest   int64 // time of a change in the copy
	manifest *Manifest
	copier
}

func (m *merger) all(from stack, to dir) error {
	root := m.manifest.root
	if err := m.fill(from, to, root, m.last); err != nil {
		return err
	}
	if err := m.finish(to, root); err != nil {
		return err
	}
	m.manifest.uncertain = !m.pass(to, root)
	return nil
}

// fill makes an open directory hold what is in its node. What it held before is
// in the node last, or is removed.
func (m *merger) fill(from stack, to dir, n, last *node) error {
	if err := m.clear(to, n, last); err != nil {
		return err
	}
	for name, child := range n.children {
		if err := m.ctx.Err(); err != nil {
			return err
		}
		if child.to != (stamp{}) && !child.from.isDir() {
			continue // kept
		}
		err := m.entry(from, to, name, child, last.child(name))
		switch {
		case isGone(err):
			delete(n.children, name)
		case isDenied(err):
			delete(n.children, name)
			m.manifest.omitted++
		case err != nil:
			return err
		}
	}
	return nil
}

// clear removes what a directory is not to hold, and notes what is kept.
func (m *merger) clear(to dir, n, last *node) error {
	names, err := to.names(maxStored)
	if err != nil {
		return err
	}
	for _, name := range names {
		if stat, err := to.stat(name); err == nil && m.keeps(n.child(name), last.child(name), stampOf(&stat)) {
			n.children[name].to = stampOf(&stat)
			continue
		}
		if err := to.remove(name); err != nil {
			return err
		}
	}
	if len(names) > maxStored {
		return m.clear(to, n, last)
	}
	return nil
}

// keeps reports whether what has a name in the copy is what should be there.
func (m *merger) keeps(wanted, last *node, is stamp) bool {
	switch {
	case wanted == nil || last == nil || wanted.from.kind() != is.kind():
		return false
	case is.isDir():
		return last.to.isDir()
	}
	return !last.stale && is == last.to && wanted.from == last.from && wanted.layers[0] == last.layers[0]
}

// entry copies a directory with all that is in it, a file or a link.
func (m *merger) entry(from stack, to dir, name string, n, last *node) error {
	switch n.from.kind() {
	case unix.S_IFDIR:
		return m.directory(from, to, name, n, last)
	case unix.S_IFLNK:
		return m.link(from[n.layers[0]], to, name, n)
	default:
		return m.file(from[n.layers[0]], to, name, n)
	}
}

func (m *merger) directory(from stack, to dir, name string, n, last *node) error {
	below, _, err := from.open(name, n.layers)
	defer below.close()
	if err != nil {
		return err
	}
	if n.to == (stamp{}) {
		last = nil
		if err := unix.Mkdirat(int(to), name, 0o700); err != nil {
			return err
		}
	}
	into, _, err := to.openUnlocked(name)
	if err != nil {
		return err
	}
	defer into.close()
	if err := m.fill(below, into, n, last); err != nil {
		return err
	}
	return m.finish(into, n)
}

// finish gives a directory that is filled its attributes.
func (m *merger) finish(d dir, n *node) error {
	if m.user != 0 {
		if err := unix.Fchown(int(d), m.user, m.user); err != nil {
			return err
		}
	}
	if err := unix.Fchmod(int(d), n.from.permissions()); err != nil {
		return err
	}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, d.path(""), n.from.times(), 0); err != nil {
		return err
	}
	stat, err := d.self()
	m.note(n, &stat)
	n.born = d.born()
	return err
}

// note notes the state of a copy.
func (m *merger) note(n *node, stat *unix.Stat_t) {
	n.to = stampOf(stat)
	m.latest = max(m.latest, n.to.ctime)
	n.stale = !n.from.settled(m.read)
}

func (m *merger) link(from, to dir, name string, n *node) error {
	target, err := from.link(name)
	if err == unix.EINVAL {
		return unix.ENOENT // it is no link any more
	}
	if err != nil {
		return err
	}
	if err := to.makeLink(name, target, m.user, m.user, n.from); err != nil {
		return err
	}
	stat, err := to.stat(name)
	m.note(n, &stat)
	return err
}

// maxTries is how often a file is copied that is written meanwhile. What the
// last try gives may be of several states.
const maxTries = 3

func (m *merger) file(from, to dir, name string, n *node) error {
	left := m.bytes
	for try := 1; ; try++ {
		m.bytes = left
		still, err := m.tryFile(from, to, name, n)
		if err == nil && (still || try == maxTries) {
			return nil
		}
		if removeErr := to.remove(name); removeErr != nil {
			return cmp.Or(err, removeErr)
		}
		if err != nil {
			return err
		}
	}
}

// tryFile copies a file as it is now, and reports whether it is so still.
func (m *merger) tryFile(from, to dir, name string, n *node) (still bool, err error) {
	source, stat, err := from.file(name)
	if err != nil {
		return false, err
	}
	defer source.Close()
	if m.bytes -= stat.Size; m.bytes < 0 { // it has grown
		return false, fmt.Errorf("%w: files that become more while they are copied", ErrTooLarge)
	}
	n.from = stampOf(&stat)
	made, err := to.makeFile(name, m.user, m.user, n.from, func(file *os.File) error { return m.copy(file, source, &stat) })
	if err != nil {
		return false, err
	}
	after, err := statOf(source)
	still = stampOf(&after) == n.from
	m.note(n, &made)
	n.stale = n.stale || !still
	return still, err
}

const (
	// maxPass is how long is waited for a time stamp that is later than those of
	// the copy.
	maxPass = 100 * time.Millisecond
	// passInterval is less than what passes between two time stamps.
	passInterval = 250 * time.Microsecond
)

// pass waits until what is changed has another time of change than what was
// copied. It reports whether that is so: some file systems count in seconds.
func (m *merger) pass(top dir, root *node) bool {
	for begun := time.Now(); time.Since(begun) < maxPass; time.Sleep(passInterval) {
		if unix.UtimesNanoAt(unix.AT_FDCWD, top.path(""), root.from.times(), 0) != nil {
			return false
		}
		stat, err := top.self()
		if err != nil {
			return false
		}
		if stat.Ctim.Nano() > m.latest {
			return true
		}
	}
	return false
}
