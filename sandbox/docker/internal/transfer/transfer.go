// Package transfer carries what a directory holds over a stream: whole, or as
// far as it has changed. It is how runs get and give back their files where an
// engine cannot share directories with the server.
//
// A stream is a list of records: removals first, deepest first; then
// directories before what is in them, files, and links; and the end. Each
// record is a byte for its kind, its path and what the kind demands. Lengths
// and numbers are as in [encoding/binary.AppendUvarint], times and offsets are
// in nanoseconds and bytes. Holes of files are not carried.
//
// Who receives trusts nothing: all paths are resolved inside one directory, no
// link is followed to a file that is written, what is read is bounded, and
// nothing but directories, regular files, symbolic links and hard links among
// those comes to be.
package transfer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
)

// kind is the first byte of a record.
type kind byte

const (
	directory kind = 'd'
	file      kind = 'f'
	symlink   kind = 'l'
	hardlink  kind = 'h'
	removal   kind = 'r'
	end       kind = 'e'
)

const (
	// maxPath bounds paths and the targets of links, in bytes, as Linux does.
	maxPath = 4096
	// maxDepth is how many directories deep is looked, as where a workspace is
	// measured (disk.Measure).
	maxDepth = 64
	// maxEntries is how much a directory may hold. Runs have lower quotas.
	maxEntries = 100_000
	// chunkBytes is how much of a file is read at once.
	chunkBytes = 128 << 10
)

// ErrMalformed means that a stream is none of this package's, was cut off or
// leads elsewhere.
var ErrMalformed = errors.New("malformed transfer")

// header is a record without the content of a file.
type header struct {
	kind  kind
	path  string // slash-separated, relative, clean
	mode  fs.FileMode
	mtime int64 // of a file
	size  int64 // of a file
	// target is where a symbolic link leads to, or the path of the file of
	// which a hard link is another name.
	target string
}

// encoder writes records. Errors stay in the writer, and come with Flush.
type encoder struct{ w *bufio.Writer }

func (e encoder) number(n uint64) { e.w.Write(binary.AppendUvarint(nil, n)) }

func (e encoder) text(s string) {
	e.number(uint64(len(s)))
	e.w.WriteString(s)
}

func (e encoder) header(h header) {
	e.w.WriteByte(byte(h.kind))
	e.text(h.path)
	switch h.kind {
	case directory:
		e.number(uint64(h.mode))
	case file:
		e.number(uint64(h.mode))
		e.number(uint64(h.mtime))
		e.number(uint64(h.size))
	case symlink, hardlink:
		e.text(h.target)
	}
}

// decoder reads records.
type decoder struct{ r *bufio.Reader }

// number reads a number up to a maximum.
func (d decoder) number(maximum uint64) (uint64, error) {
	n, err := binary.ReadUvarint(d.r)
	if err == nil && n > maximum {
		err = ErrMalformed
	}
	return n, err
}

func (d decoder) text() (string, error) {
	n, err := d.number(maxPath)
	if err != nil {
		return "", err
	}
	text := make([]byte, n)
	_, err = io.ReadFull(d.r, text)
	return string(text), err
}

// header reads the next record up to the content of a file, or up to the
// numbers of the end.
func (d decoder) header() (header, error) {
	first, err := d.r.ReadByte()
	if err != nil {
		return header{}, err
	}
	h := header{kind: kind(first)}
	if h.kind == end {
		return h, nil
	}
	if h.path, err = d.text(); err == nil && !valid(h.path) {
		err = ErrMalformed
	}
	if err != nil {
		return header{}, err
	}
	switch h.kind {
	case directory:
		h.mode, err = d.mode()
	case file:
		err = d.file(&h)
	case symlink, hardlink:
		if h.target, err = d.text(); err == nil && (h.target == "" || strings.ContainsRune(h.target, 0)) {
			err = ErrMalformed
		}
	case removal:
	default:
		err = ErrMalformed
	}
	return h, err
}

func (d decoder) file(h *header) (err error) {
	if h.mode, err = d.mode(); err != nil {
		return err
	}
	mtime, err := d.number(1<<64 - 1)
	if err != nil {
		return err
	}
	size, err := d.number(1<<63 - 1)
	h.mtime, h.size = int64(mtime), int64(size)
	return err
}

// mode reads permissions: nothing that sets an identity passes.
func (d decoder) mode() (fs.FileMode, error) {
	mode, err := d.number(uint64(fs.ModePerm))
	return fs.FileMode(mode), err
}

// valid tells whether a path is clean and stays below the directory to which
// it is relative. It need not be UTF-8.
func valid(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.HasPrefix(name, "../") && !path.IsAbs(name) &&
		path.Clean(name) == name && !strings.ContainsRune(name, 0) &&
		len(name) <= maxPath && strings.Count(name, "/") <= maxDepth
}

// local tells whether a valid path names what it should on this system: others
// have names that are devices here, or several names.
func local(name string) bool {
	return filepath.IsLocal(filepath.FromSlash(name)) && filepath.ToSlash(filepath.FromSlash(name)) == name
}
