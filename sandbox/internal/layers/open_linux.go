package layers

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// maxOpenings is how often what a path leads to is looked for that is changed
// meanwhile.
const maxOpenings = 3

// Opened is a file or directory of a share as programs see it.
type Opened struct {
	// Path is relative to the share, clean, and goes through no link; "." is the
	// share.
	Path string
	// File is a regular file; nil for a directory.
	File *os.File

	w *walker
}

// Open opens what programs see at a slash-separated path of a share, of which
// nobody else needs to be kept away. Links are followed as programs would follow
// them. may is called with the [Opened.Path] before anything is opened there,
// whether it is there or not; its error is that of Open.
//
// The error is or wraps [fs.ErrNotExist], [fs.ErrPermission], [ErrOutside],
// [ErrSpecial], or is one of the system.
func Open(share sandbox.Share, path string, may func(path string) error) (*Opened, error) {
	for attempt := 1; ; attempt++ {
		w, err := openWalker(share)
		if err != nil {
			return nil, err
		}
		opened, err := w.open(path, may)
		if err == nil {
			return opened, nil
		}
		w.close()
		if !isGone(err) || attempt == maxOpenings {
			return nil, fault(err)
		}
	}
}

// open opens what a path leads to. The walker is that of what it returns.
func (w *walker) open(path string, may func(string) error) (*Opened, error) {
	found, err := w.walk(path)
	if err != nil {
		return nil, err
	}
	opened := &Opened{Path: joined(found.path), w: w}
	if err := may(opened.Path); err != nil {
		return nil, err
	}
	switch {
	case found.layer < 0:
		return nil, fs.ErrNotExist
	case found.isDir():
		if !w.owner.may(&found.stat, mayRead) {
			return nil, unix.EACCES
		}
		return opened, nil
	}
	opened.File, err = w.openFile(found)
	return opened, err
}

// joined is the path of names.
func joined(names []string) string {
	if len(names) == 0 {
		return "."
	}
	return strings.Join(names, "/")
}

// openFile opens a file to be read. What is none is not opened: that of a device
// does something.
func (w *walker) openFile(found reached) (*os.File, error) {
	if found.stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, ErrSpecial
	}
	file, stat, err := found.in[found.layer].file(found.path[len(found.path)-1])
	if err != nil {
		return nil, err
	}
	if !w.owner.may(&stat, mayRead) {
		file.Close()
		return nil, unix.EACCES
	}
	return file, nil
}

// Close releases what was opened.
func (o *Opened) Close() {
	if o.File != nil {
		o.File.Close()
	}
	o.w.close()
}

// fault says in which way a path cannot be used.
func fault(err error) error {
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP):
		return fs.ErrNotExist
	case errors.Is(err, errNotRegular), errors.Is(err, unix.ENXIO):
		return ErrSpecial
	}
	return err
}
