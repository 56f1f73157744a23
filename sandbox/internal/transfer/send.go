package transfer

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// Send writes all of a tree. What has gone meanwhile is left out.
func (t *Snapshot) Send(w io.Writer, root *os.Root) error {
	return t.SendChanges(w, root, newSnapshot())
}

// SendChanges writes what makes one that holds before hold t.
func (t *Snapshot) SendChanges(w io.Writer, root *os.Root, before *Snapshot) error {
	s := sender{w: bufio.NewWriterSize(w, chunkBytes), root: root, buffer: make([]byte, chunkBytes)}
	for _, name := range slices.Backward(before.order) {
		if !t.cut && !t.Has(name) {
			s.write(&header{kind: removal, path: name})
		}
	}
	resent := make(map[string]bool)
	for _, name := range t.order {
		e := t.entries[name]
		if old, had := before.entries[name]; had && old == e && !resent[e.target] {
			continue
		}
		resent[name] = e.kind == file
		if err := s.entry(e); err != nil {
			return err
		}
	}
	s.write(&header{kind: end, size: int64(min(t.skipped+s.skipped, maxEntries))})
	return s.w.Flush()
}

type sender struct {
	w       *bufio.Writer
	root    *os.Root
	buffer  []byte
	skipped int // what was there and cannot be read
}

// write writes a message. An error stays in the writer, and comes with Flush.
func (s *sender) write(m wire.Message) { wire.Send(s.w, m) }

func (s *sender) entry(e entry) error {
	if e.kind != file {
		s.write(&e.header)
		return nil
	}
	f, info, err := openFile(s.root, e.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.skipped++
		}
		return nil
	}
	defer f.Close()
	e.size, e.mtime = info.Size(), info.ModTime().UnixNano()
	s.write(&e.header)
	at := int64(0)
	err = readData(f, e.size, s.buffer, func(offset int64, chunk []byte) {
		s.write(&part{offset - at, int64(len(chunk))})
		s.w.Write(chunk)
		at = offset + int64(len(chunk))
	})
	s.write(&part{})
	return err
}
