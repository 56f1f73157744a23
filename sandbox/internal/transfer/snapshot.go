package transfer

import (
	"encoding/binary"
	"errors"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// Snapshot is what a directory held when it was looked at.
type Snapshot struct {
	entries map[string]entry
	order   []string // directories before what is in them
	// skipped counts what cannot be carried: special files, and what cannot
	// be read or is too deep.
	skipped int
	// cut means that there may be more than was looked at.
	cut bool
}

// Largest returns the size of the largest file.
func (t *Snapshot) Largest() (size int64) {
	for _, e := range t.entries {
		size = max(size, e.size)
	}
	return size
}

// entry is one directory, file or link. Two that are equal need not be carried.
type entry struct {
	header
	id     filestat.ID // of a file
	digest uint64      // of a file's content, where it was taken
}

// Has reports whether a path, slash-separated, was there.
func (t *Snapshot) Has(name string) bool {
	_, has := t.entries[name]
	return has
}

// List looks at a directory.
func List(root *os.Root) *Snapshot {
	return list(root, maxEntries, false)
}

// ListWhole looks at a directory in which nothing else happens and of which
// the caller is the owner, and at the content of its files. Directories and
// files whose modes keep their owner out are opened to him.
func ListWhole(root *os.Root) *Snapshot {
	return list(root, maxEntries, true)
}

// Restore gives back the modes of what [ListWhole] opened.
func (t *Snapshot) Restore(root *os.Root) (err error) {
	for _, name := range slices.Backward(t.order) {
		e := t.entries[name]
		if e.kind == directory && e.mode&0o700 != 0o700 || e.kind == file && e.mode&0o400 == 0 {
			err = errors.Join(err, root.Chmod(name, e.mode))
		}
	}
	return err
}

// list looks at no more entries than most.
func list(root *os.Root, most int, whole bool) *Snapshot {
	walk := walker{root: root, snapshot: newSnapshot(), names: make(map[filestat.ID]string), left: most, whole: whole}
	if whole {
		walk.buffer = make([]byte, chunkBytes)
	}
	walk.dir(".", 0)
	return walk.snapshot
}

func newSnapshot() *Snapshot { return &Snapshot{entries: make(map[string]entry)} }

type walker struct {
	root     *os.Root
	snapshot *Snapshot
	names    map[filestat.ID]string // the first name of each file with more than one
	left     int                    // how many entries are still looked at
	whole    bool
	// buffer is for the content of files, where that is looked at.
	buffer []byte
}

// miss notes that something is there which the snapshot does not have.
func (w *walker) miss() {
	w.snapshot.skipped++
	w.snapshot.cut = true
}

func (w *walker) dir(name string, depth int) {
	if depth > maxDepth {
		w.snapshot.skipped++
		return
	}
	dir, err := w.root.OpenFile(name, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.miss()
		}
		return
	}
	list, err := dir.ReadDir(w.left + 1)
	dir.Close() // before going deeper, so that depth costs no descriptors
	if err != nil && !errors.Is(err, io.EOF) {
		w.miss()
	}
	for _, found := range list {
		if w.left--; w.left < 0 {
			w.miss()
			return
		}
		if below := path.Join(name, found.Name()); w.entry(below) {
			w.dir(below, depth+1)
		}
	}
}

// entry looks at one path and reports whether it is a directory.
func (w *walker) entry(name string) (isDir bool) {
	if !valid(name) { // nor is anything below
		w.snapshot.skipped++
		return false
	}
	info, err := w.root.Lstat(name)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.miss()
		}
		return false
	}
	e := entry{header: header{path: name, mode: info.Mode().Perm()}}
	switch info.Mode().Type() {
	case fs.ModeDir:
		e.kind, isDir = directory, true
		if w.whole && e.mode&0o700 != 0o700 {
			err = w.root.Chmod(name, e.mode|0o700)
		}
	case fs.ModeSymlink:
		e.kind, e.mode = symlink, 0
		e.target, err = w.root.Readlink(name)
	case 0:
		err = w.file(&e, info)
	default:
		w.snapshot.skipped++
		return false
	}
	if err != nil {
		w.miss()
		return isDir
	}
	w.snapshot.entries[name] = e
	w.snapshot.order = append(w.snapshot.order, name)
	return isDir
}

// file completes the entry of a regular file, which may be another name of one
// that was seen before.
func (w *walker) file(e *entry, info fs.FileInfo) error {
	e.id = filestat.Of(info).ID
	if filestat.Links(info) > 1 {
		if first, seen := w.names[e.id]; seen {
			e.kind, e.mode, e.target = hardlink, 0, first
			return nil
		}
		w.names[e.id] = e.path
	}
	e.kind, e.size, e.mtime = file, info.Size(), info.ModTime().UnixNano()
	if !w.whole {
		return nil
	}
	if e.mode&0o400 == 0 {
		if err := w.root.Chmod(e.path, e.mode|0o400); err != nil {
			return err
		}
	}
	hash := maphash.Hash{}
	hash.SetSeed(seed)
	err := w.read(e.path, e.size, func(offset int64, chunk []byte) {
		hash.Write(binary.AppendUvarint(nil, uint64(offset)))
		hash.Write(chunk)
	})
	e.digest = hash.Sum64()
	return err
}

// seed is of digests that never leave the process: whoever writes the files
// cannot know it.
var seed = maphash.MakeSeed()

func (w *walker) read(name string, size int64, each func(offset int64, chunk []byte)) error {
	f, _, err := openFile(w.root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	return readData(f, size, w.buffer, each)
}

// openFile opens a regular file, and nothing else.
func openFile(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|openflag.NonBlock|openflag.NoFollow, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// readData reads what is no hole of the first size bytes of a file.
func readData(f *os.File, size int64, buffer []byte, each func(offset int64, chunk []byte)) error {
	for offset := int64(0); offset < size; {
		from, to := filestat.NextData(f, offset, size)
		for from < to {
			n, err := f.ReadAt(buffer[:min(int64(len(buffer)), to-from)], from)
			if n > 0 {
				each(from, buffer[:n])
			}
			from += int64(n)
			if errors.Is(err, io.EOF) { // it is shorter now
				return nil
			}
			if err != nil {
				return err
			}
		}
		offset = to
	}
	return nil
}
