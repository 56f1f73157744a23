package layers

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Store writes what differs between a copy and its manifest into the upper
// directory of the share, once nothing writes to the copy any more. Each file
// comes to its name whole. What was changed and is the user's own again, but for
// its times, is in upper no more. A directory that was made again is opaque where
// it has no name that it had, else it is compared entry by entry with what it was.
// The manifest is what the copy holds now, for [Options.Last].
//
// The error wraps [ErrTooLarge], where nothing is stored, or is that of the file
// system, such as that the disk is full: what was stored until then is whole, and
// the rest is lost.
func Store(share sandbox.Share, dir string, made *Manifest) (Lost, error) {
	top, err := openLeft(dir)
	if err != nil {
		return Lost{}, err
	}
	defer top.close()
	scanned := scanner{entries: maxStored, names: make(map[uint64]int)}
	children, err := scanned.scan(top, 0)
	if err != nil {
		return scanned.lost, err
	}
	u, err := openUpper(share)
	if err != nil {
		return scanned.lost, err
	}
	defer u.close()
	lower, err := openStack("", share.Layers)
	if err != nil {
		return scanned.lost, err
	}
	defer lower.close()
	before := made.root
	made.root = &node{layers: before.layers, from: before.from, to: before.to, children: children}
	s := storer{upper: u, uncertain: made.uncertain, names: scanned.names, lost: scanned.lost}
	at := &spot{now: made.root, copy: top, upper: u.top, lower: lower, listed: true}
	err = s.leave(at, s.changes(at, before))
	return s.lost, err
}

// openLeft opens the top of a copy as a program left it.
func openLeft(path string) (dir, error) {
	d, _, err := dir(unix.AT_FDCWD).openUnlocked(path)
	return d, err
}

// storer stores what changed in a copy.
type storer struct {
	*upper
	copier
	uncertain bool
	names     map[uint64]int // see [scanner]
	lost      Lost
}

// changes stores what differs between a directory and what it was before.
func (s *storer) changes(at *spot, before *node) error {
	names := slices.Collect(maps.Keys(at.now.children))
	if before != nil {
		names = slices.AppendSeq(names, maps.Keys(before.children))
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := s.change(at, name, at.now.child(name), before.child(name)); err != nil {
			return err
		}
	}
	return nil
}

func (s *storer) change(at *spot, name string, now, before *node) error {
	switch {
	case now == nil:
		return s.remove(at, name)
	case now.unread:
		return nil
	case now.to.isDir():
		return s.directory(at, name, now, before)
	case before != nil && now.to == before.to && !s.uncertain:
		now.layers, now.from, now.stale = before.layers, before.from, before.stale
		return nil
	case now.to.kind() == unix.S_IFLNK:
		return s.link(at, name, now)
	default:
		return s.file(at, name, now)
	}
}

// remove stores that there is nothing of a name.
func (s *storer) remove(at *spot, name string) error {
	if _, _, visible := at.lowerEntry(name); !visible {
		return s.drop(at, name)
	}
	if err := s.ensure(at); err != nil {
		return err
	}
	return s.whiteout(at.upper, name)
}

// drop stores that what the user has of a name is what there is.
func (s *storer) drop(at *spot, name string) error {
	if at.upper == noDir {
		return nil
	}
	at.touched = true
	return s.discard(at.upper, name)
}

// directory stores what changed in a directory.
func (s *storer) directory(at *spot, name string, now, before *node) error {
	below := &spot{above: at, name: name, now: now, upper: noDir}
	defer below.close()
	var err error
	if below.copy, err = at.copy.open(name); err != nil {
		s.lost.Unstored++ // scan has opened it
		return nil
	}
	if before == nil || !before.to.isDir() || isReplaced(below, before) {
		_, stat, visible := at.lowerEntry(name)
		below.opaque, before = visible && stat.Mode&unix.S_IFMT == unix.S_IFDIR, nil
		err = s.ensure(below)
	} else if err = below.openUpper(); err == nil && now.to.permissions() != before.to.permissions() {
		err = s.ensure(below)
	}
	if err != nil {
		return err
	}
	return s.leave(below, s.changes(below, before))
}

// isReplaced reports whether a directory is another one than before, and has none
// of the names that it had.
func isReplaced(at *spot, before *node) bool {
	for name := range before.children {
		if at.now.child(name) != nil {
			return false
		}
	}
	at.now.born = at.copy.born()
	return len(before.children) > 0 && (at.now.to.ino != before.to.ino || at.now.born != before.born)
}

// ensure makes a directory of upper, with those above it, where it is not there.
func (s *storer) ensure(at *spot) error {
	at.touched = true
	if at.upper != noDir {
		return nil
	}
	if err := s.ensure(at.above); err != nil {
		return err
	}
	made, staged, err := s.stageDir(at.opaque)
	if err != nil {
		return err
	}
	if owner, group := s.ownerOf(at.above, at.name); owner != 0 || group != 0 {
		err = unix.Fchown(int(made), owner, group)
	}
	if err == nil {
		err = s.place(staged, at.above.upper, at.name)
	}
	if err != nil {
		made.close()
		return err
	}
	at.upper = made
	return nil
}

// leave gives a directory of upper the attributes that it has in the copy, or
// removes it where it says nothing. The error is err, if there is one.
func (s *storer) leave(at *spot, err error) error {
	if !at.touched {
		return err
	}
	if err == nil && at.above != nil && at.isLowers() &&
		unix.Unlinkat(int(at.above.upper), at.name, unix.AT_REMOVEDIR) == nil {
		at.above.touched = true
		return nil
	}
	modeErr := unix.Fchmod(int(at.upper), at.now.to.permissions())
	if modeErr == nil {
		modeErr = unix.UtimesNanoAt(unix.AT_FDCWD, at.upper.path(""), at.now.to.times(), 0)
	}
	return cmp.Or(err, modeErr)
}

// file stores a file, unless it is the user's own again.
func (s *storer) file(at *spot, name string, now *node) error {
	from, stat, err := at.copy.file(name)
	if isDenied(err) && at.copy.unlock(name, now.to.mode) == nil {
		from, stat, err = at.copy.file(name)
	}
	if err != nil {
		s.lost.Unstored++
		return nil
	}
	defer from.Close()
	if stat.Nlink > 1 && uint64(s.names[stat.Ino]) < uint64(stat.Nlink) {
		s.lost.Unstored++
		return nil
	}
	if same, err := at.isLowersAgain(name, now, from); err != nil || same {
		return cmp.Or(err, s.drop(at, name))
	}
	return s.putFile(at, name, now.to, func(to *os.File) error { return s.copy(to, from, &stat) })
}

// putFile stores a file of what fill writes.
func (s *storer) putFile(at *spot, name string, like stamp, fill func(*os.File) error) error {
	return s.put(at, name, func(staged string, user, group int) error {
		_, err := s.work.makeFile(staged, user, group, like, fill)
		return err
	})
}

// put has something made for the owner of a name, and gives it that.
func (s *storer) put(at *spot, name string, stage func(staged string, user, group int) error) error {
	if err := s.ensure(at); err != nil {
		return err
	}
	staged := stagedName()
	user, group := s.ownerOf(at, name)
	if err := stage(staged, user, group); err != nil {
		return errors.Join(err, s.work.remove(staged))
	}
	return s.place(staged, at.upper, name)
}

// link stores a symbolic link, unless it is the user's own again.
func (s *storer) link(at *spot, name string, now *node) error {
	target, err := at.copy.link(name)
	if err != nil {
		s.lost.Unstored++
		return nil
	}
	if d, stat, visible := at.lowerEntry(name); visible && stat.Mode&unix.S_IFMT == unix.S_IFLNK {
		if old, err := d.link(name); err == nil && old == target {
			return s.drop(at, name)
		}
	}
	return s.put(at, name, func(staged string, user, group int) error {
		return s.work.makeLink(staged, target, user, group, now.to)
	})
}

// ownerOf returns the user and the group that a name in upper belongs to, or
// those of this process where it is not root.
func (s *storer) ownerOf(at *spot, name string) (user, group int) {
	if os.Geteuid() != 0 {
		return os.Geteuid(), os.Getegid()
	}
	if _, stat, visible := at.lowerEntry(name); visible {
		return int(stat.Uid), int(stat.Gid)
	}
	return s.owner, s.group
}
