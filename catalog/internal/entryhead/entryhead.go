// Package entryhead reads the heads of entry documents, up to the end of their
// frontmatter, and knows later whether they still stand so.
package entryhead

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// Reading is what was read of an entry document: enough to know
// later whether it still stands so.
type Reading struct {
	State filestat.State
	When  time.Time
	Sum   [sha256.Size]byte // of the head
	Body  problem.Position  // what is not UTF-8 there, or zero
}

// Settled reports whether an equal state proves an equal content.
func (r Reading) Settled() bool { return r.State.Settled(r.When) }

// Current reports whether the document is still as it was read.
func (r Reading) Current(dir, entry string) bool {
	if r.Settled() {
		info, err := os.Lstat(filepath.Join(dir, entry))
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			return err == nil && filestat.Of(info) == r.State
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return false
		}
		defer root.Close()
		info, err = root.Stat(entry)
		return err == nil && filestat.Of(info) == r.State
	}
	_, now, err := Read(dir, entry)
	return err == nil && now.State == r.State && now.Sum == r.Sum && now.Body == r.Body
}

// maxRead bounds what a scan reads of an entry document, in bytes: its head,
// and as much of the text after the frontmatter.
const maxRead = 1<<20 + frontmatter.MaxHeadBytes

var (
	// ErrNotRegular marks an entry document that is a directory, a FIFO, a
	// device or the like.
	ErrNotRegular = errors.New("not a regular file")
	// ErrUnreadable marks a document that could be opened and not be read.
	ErrUnreadable = errors.New("cannot be read")
)

// Read reads an entry document up to the end of its frontmatter, and at
// most [frontmatter.MaxHeadBytes]. It follows links inside dir only, and opens
// nothing that could block.
func Read(dir, entry string) ([]byte, Reading, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, Reading{}, err
	}
	defer root.Close()
	// To open a device can be to act on it, so look first.
	if info, err := root.Stat(entry); err != nil {
		return nil, Reading{}, err
	} else if !info.Mode().IsRegular() {
		return nil, Reading{}, ErrNotRegular
	}
	file, err := root.OpenFile(entry, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return nil, Reading{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, Reading{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, Reading{}, ErrNotRegular
	}
	r := Reading{State: filestat.Of(info), When: time.Now()}
	data, err := io.ReadAll(io.LimitReader(file, maxRead))
	if err != nil {
		return nil, Reading{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	head := data[:min(len(data), frontmatter.MaxHeadBytes)]
	if p := frontmatter.Split(&problem.Report{}, data, true); p.Found {
		head = data[:len(data)-len(p.Body)]
		body := p.Body
		if len(data) == maxRead { // the last character may have been cut
			body = body[:bytes.LastIndexByte(body, '\n')+1]
		}
		r.Body, _ = problem.InvalidUTF8(body, p.BodyLine(data))
	}
	r.Sum = sha256.Sum256(head)
	return head, r, nil
}
