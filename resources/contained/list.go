package contained

import (
	"cmp"
	"io/fs"
)

// Entry is one line of a directory listing.
type Entry struct {
	// Path is relative to the [Dir]. Its bytes need not be UTF-8.
	Path string
	// Dir is set of a directory; MIME is then inode/directory and Size 0.
	Dir bool
	// MIME is the media type by the name alone: files are not opened to
	// list them. It is empty where the name is of no use.
	MIME string
	// Size is the file's size in bytes.
	Size int64
}

// NewEntry returns the line of a file or directory that was found otherwise.
func NewEntry(path string, dir bool, size int64) Entry {
	if dir {
		return Entry{Path: path, Dir: true, MIME: DirectoryType}
	}
	return Entry{Path: path, MIME: new(Dir).listedType(path), Size: size}
}

// MaxEntries is how many entries a listing has.
const MaxEntries = 1000

// List returns a directory's entries, sorted by path in byte order: its
// children, or with depth 2 and more those of its subdirectories too; depth
// below 1 means 1. What is not served (links out, special files, ignored files)
// is left out. more reports whether there were more than [MaxEntries], or more
// than 100,000 names to look at; the entries are then the first ones, or fewer.
// A file is [NotDirectory].
//
// Memory is bounded by MaxEntries and not by the directory: of 100,000 names
// all are read, but only the first MaxEntries are kept and looked at.
func (f *File) List(depth int) (entries []Entry, more bool, err error) {
	return f.dir.list(f.path, f.given, f.info, depth)
}

// List lists the directory of a name, as [File.List] does. Errors are [*Error].
func (d *Dir) List(name string, depth int) (entries []Entry, more bool, err error) {
	clean, info, err := d.find(name)
	if err != nil {
		return nil, false, err
	}
	return d.list(clean, name, info, depth)
}

func (d *Dir) list(clean, given string, info fs.FileInfo, depth int) (entries []Entry, more bool, err error) {
	if !info.IsDir() {
		return nil, false, Refuse(NotDirectory, given, "is a file")
	}
	first := smallest[Entry]{n: MaxEntries, compare: func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) }}
	w := walk{dir: d, keep: MaxEntries, visit: func(clean string, info fs.FileInfo) error {
		entry := NewEntry(clean, info.IsDir(), info.Size())
		if !entry.Dir {
			entry.MIME = d.listedType(clean)
		}
		if !first.add(entry) {
			return errSkip
		}
		return nil
	}}
	if err := w.from(clean, depth); err != nil {
		return nil, false, err
	}
	entries = first.sorted()
	return entries, first.more || w.more, nil
}
