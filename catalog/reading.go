package catalog

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// reading is what was read of an entry document: enough to know
// later whether it still stands so.
type reading struct {
	state filestat.State
	when  time.Time
	sum   [sha256.Size]byte // of the head
	body  problem.Position  // what is not UTF-8 there, or zero
}

// settled reports whether an equal state proves an equal content.
func (r reading) settled() bool { return r.state.Settled(r.when) }

// current reports whether the document is still as it was read.
func (r reading) current(dir, entry string) bool {
	if r.settled() {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return false
		}
		defer root.Close()
		info, err := root.Stat(entry)
		return err == nil && filestat.Of(info) == r.state
	}
	_, now, err := readHead(dir, entry)
	return err == nil && now.state == r.state && now.sum == r.sum && now.body == r.body
}

// maxRead bounds what a scan reads of an entry document, in bytes: its head,
// and as much of the text after the frontmatter.
const maxRead = 1<<20 + frontmatter.MaxHeadBytes

var (
	// errNotRegular marks an entry document that is a directory, a FIFO, a
	// device or the like.
	errNotRegular = errors.New("not a regular file")
	// errUnreadable marks a document that could be opened and not be read.
	errUnreadable = errors.New("cannot be read")
)

// readHead reads an entry document up to the end of its frontmatter, and at
// most [frontmatter.MaxHeadBytes]. It follows links inside dir only, and opens
// nothing that could block.
func readHead(dir, entry string) ([]byte, reading, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, reading{}, err
	}
	defer root.Close()
	// To open a device can be to act on it, so look first.
	if info, err := root.Stat(entry); err != nil {
		return nil, reading{}, err
	} else if !info.Mode().IsRegular() {
		return nil, reading{}, errNotRegular
	}
	file, err := root.OpenFile(entry, os.O_RDONLY|openflag.NonBlock, 0)
	if err != nil {
		return nil, reading{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, reading{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, reading{}, errNotRegular
	}
	r := reading{state: filestat.Of(info), when: time.Now()}
	data, err := io.ReadAll(io.LimitReader(file, maxRead))
	if err != nil {
		return nil, reading{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	head := data[:min(len(data), frontmatter.MaxHeadBytes)]
	if p := frontmatter.Split(&problem.Report{}, data, true); p.Found {
		head = data[:len(data)-len(p.Body)]
		body := p.Body
		if len(data) == maxRead { // the last character may have been cut
			body = body[:bytes.LastIndexByte(body, '\n')+1]
		}
		r.body, _ = problem.InvalidUTF8(body, p.BodyLine(data))
	}
	r.sum = sha256.Sum256(head)
	return head, r, nil
}
