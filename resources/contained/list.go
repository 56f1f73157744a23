package contained

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
)

// Entry is one line of a directory listing.
type Entry struct {
	// Path is relative to the tree. Its bytes need not be UTF-8.
	Path string
	// Dir tells a directory; MIME is then inode/directory and Size 0.
	Dir bool
	// MIME is the media type by the name alone: files are not opened to
	// list them. It is empty where the name tells nothing.
	MIME string
	// Size is the file's size in bytes.
	Size int64
}

// MaxEntries is how many entries List gives.
const MaxEntries = 1000

// List gives a directory's entries, sorted by path in byte order: its
// children, or with depth 2 and more those of its subdirectories too; depth
// below 1 means 1. What is not served (links out, special files, VCS and
// ignored files) is left out. more tells that there were beyond
// [MaxEntries], or more than 100,000 names to look at; the entries are then
// the first ones, or fewer. Errors are [*Error]; a file is [NotDirectory].
//
// Memory is bounded by MaxEntries and not by the directory: of 100,000 names
// all are read, but only the first MaxEntries are kept and looked at.
func (d *Dir) List(dir string, depth int) (entries []Entry, more bool, err error) {
	clean, passed, err := d.enter(dir)
	if err != nil {
		return nil, false, err
	}
	list := listing{dir: d}
	w := walk{dir: d, keep: MaxEntries, visit: list.add}
	if err := w.in(clean, depth, passed); err != nil {
		return nil, false, err
	}
	list.trim()
	return list.entries, list.more || w.more, nil
}

// enter checks a directory that a caller named, and gives the directories on
// the way to it, itself included.
func (d *Dir) enter(dir string) (clean string, passed []fs.FileInfo, err error) {
	if clean, err = d.clean(dir); err != nil {
		return "", nil, err
	}
	info, err := d.stat(clean, dir)
	if err != nil {
		return "", nil, err
	}
	if !info.IsDir() {
		return "", nil, Refuse(NotDirectory, dir, "is a file")
	}
	passed = []fs.FileInfo{info}
	for at := clean; at != "."; {
		at = path.Dir(at)
		if info, err = d.root.Stat(at); err != nil {
			return "", nil, d.refusal(dir, err)
		}
		passed = append(passed, info)
	}
	return clean, passed, nil
}

// listing keeps the first MaxEntries of the entries that are added to it.
type listing struct {
	dir     *Dir
	entries []Entry
	// bound, where it is not empty, is a path at and behind which no entry
	// is wanted any more.
	bound string
	more  bool
}

func (l *listing) add(clean string, info fs.FileInfo) error {
	if l.bound != "" && clean >= l.bound {
		l.more = true
		return errSkip
	}
	entry := Entry{Path: clean, Dir: info.IsDir()}
	if entry.Dir {
		entry.MIME = directoryType
	} else {
		entry.MIME, entry.Size = l.dir.listedType(clean), info.Size()
	}
	l.entries = append(l.entries, entry)
	if len(l.entries) >= 2*MaxEntries {
		l.trim()
	}
	return nil
}

// trim sorts, and drops what is beyond MaxEntries.
func (l *listing) trim() {
	slices.SortFunc(l.entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	if len(l.entries) > MaxEntries {
		l.more = true
		l.bound = l.entries[MaxEntries].Path
		l.entries = l.entries[:MaxEntries]
	}
}
