package transfer

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// Bounds are what a stream may bring. A zero field bounds nothing.
type Bounds struct {
	// Bytes is how much disk space all files may have together: holes count
	// where they take any.
	Bytes int64
	// FileBytes is the size of the largest file, holes included; what has the
	// name of a longer one may be as long as that.
	FileBytes int64
	// Entries is how many directories, files, links and removals there may be.
	Entries int
	// Removable reports what may be removed; if nil, nothing.
	Removable func(name string) bool
	// Staging is a directory in which files are until they are whole, if it is
	// there; else it is the top.
	Staging string
	// Readable makes all that comes readable to everybody, and nothing
	// writable to others than its owner.
	Readable bool
}

// Receive stores what a stream brings in a directory, in which others may read
// and write at the same time: each file comes to its name whole. It stops at
// the end of the stream and reads nothing behind it. Skipped counts what the
// sender could not carry and what has no place here, such as a file where
// there is a directory that others have filled.
//
// The error is ErrMalformed, or one of the file system; what came before it is
// stored. Nothing is removed before all else is stored, but for what is in the
// way of it: a file that has another name now is never without one.
func Receive(r *bufio.Reader, root *os.Root, bounds Bounds) (skipped int, err error) {
	rc := receiver{r: r, bounds: bounds, to: newDestination(root, bounds.Staging), left: bounds.Bytes, buffer: make([]byte, chunkBytes)}
	defer func() { err = errors.Join(err, rc.to.finish()) }()
	for entries := 0; ; entries++ {
		var h header
		if err := wire.Receive(r, &h); err != nil {
			return rc.skipped, malformed(err)
		}
		if !h.wellFormed() {
			return rc.skipped, ErrMalformed
		}
		if h.kind == end {
			err := rc.to.removeDeferred()
			return rc.skipped + rc.to.kept + int(h.size), err
		}
		if bounds.Entries > 0 && entries >= bounds.Entries {
			return rc.skipped, fmt.Errorf("%w: more than %d entries", ErrMalformed, bounds.Entries)
		}
		if err := rc.store(h); err != nil {
			return rc.skipped, malformed(err)
		}
	}
}

// malformed returns the error for a stream that has no end, or is none.
func malformed(err error) error {
	if errors.Is(err, wire.ErrInvalid) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	return err
}

type receiver struct {
	r       *bufio.Reader
	bounds  Bounds
	to      *destination
	left    int64 // of bounds.Bytes
	skipped int
	buffer  []byte
}

// store stores one record. That something has no place is no error.
func (rc *receiver) store(h header) error {
	if rc.bounds.Readable {
		h.mode = readable(h)
	}
	var err error
	switch h.kind {
	case removal:
		if rc.bounds.Removable == nil || !rc.bounds.Removable(h.path) {
			return fmt.Errorf("%w: it removes what was not sent", ErrMalformed)
		}
		err = rc.to.deferRemoval(h.path)
	case directory:
		err = rc.to.directory(h.path, h.mode)
	case file:
		return rc.file(h)
	case symlink:
		err = rc.to.symlink(h.path, h.target)
	case hardlink:
		err = rc.to.hardlink(h.path, h.target)
	}
	return rc.skip(err)
}

// skip counts what has no place.
func (rc *receiver) skip(err error) error {
	if err == nil || !concernsPathAlone(err) {
		return err
	}
	rc.skipped++
	return nil
}

func readable(h header) fs.FileMode {
	if h.kind == directory || h.mode&0o111 != 0 {
		return 0o755
	}
	return 0o644
}

// file stores a file beside the directory's names before it gets its own.
func (rc *receiver) file(h header) error {
	if limit := rc.bounds.FileBytes; limit > 0 && h.size > max(limit, rc.to.size(h.path)) {
		return fmt.Errorf("%w: a file of %d bytes", ErrMalformed, h.size)
	}
	if !filestat.Sparse {
		if err := rc.charge(h.size); err != nil {
			return err
		}
	}
	f, staged, err := rc.to.stageFile()
	if err != nil {
		return err
	}
	err = rc.content(f, h.size)
	if err == nil {
		err = f.Truncate(h.size)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, rc.to.root.Remove(staged))
	}
	return rc.skip(rc.to.file(staged, h.path, h.mode, time.Unix(0, h.mtime)))
}

// charge counts disk space.
func (rc *receiver) charge(bytes int64) error {
	if rc.bounds.Bytes == 0 {
		return nil
	}
	if bytes > rc.left {
		return fmt.Errorf("%w: more than %d bytes", ErrMalformed, rc.bounds.Bytes)
	}
	rc.left -= bytes
	return nil
}

// content reads a file's parts, in ascending order, and writes them.
func (rc *receiver) content(f *os.File, size int64) error {
	for at := int64(0); ; {
		var next part
		if err := wire.Receive(rc.r, &next); err != nil || next == (part{}) {
			return err
		}
		if next.length <= 0 || next.length > chunkBytes {
			return ErrMalformed
		}
		if next.gap < 0 || next.gap > size-at || next.length > size-at-next.gap {
			return fmt.Errorf("%w: content behind the end of a file", ErrMalformed)
		}
		if filestat.Sparse {
			if err := rc.charge(next.length); err != nil {
				return err
			}
		}
		chunk := rc.buffer[:next.length]
		if _, err := io.ReadFull(rc.r, chunk); err != nil {
			return err
		}
		if _, err := f.WriteAt(chunk, at+next.gap); err != nil {
			return err
		}
		at += next.gap + next.length
	}
}
