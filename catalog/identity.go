package catalog

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/openflag"
)

// reading is what was read of an entry document: enough to tell later
// whether it still stands so.
type reading struct {
	id   filestat.State
	when time.Time
	sum  [sha256.Size]byte // of the head
	body problem.Position  // what is not UTF-8 there, or zero
}

// settled reports whether an equal state proves an equal content.
func (r reading) settled() bool { return r.id.Settled(r.when) }

// current tells whether the document is still as it was read.
func (r reading) current(dir, entry string) bool {
	if r.settled() {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return false
		}
		defer root.Close()
		info, err := root.Stat(entry)
		return err == nil && filestat.Of(info) == r.id
	}
	_, now, err := readHead(dir, entry)
	return err == nil && now.id == r.id && now.sum == r.sum && now.body == r.body
}

// maxBodyChecked bounds what a scan reads of the text after the frontmatter,
// in bytes.
const maxBodyChecked = 1 << 20

var (
	// errNotRegular marks an entry document that is a directory, a FIFO, a
	// device or the like.
	errNotRegular = errors.New("not a regular file")
	// errUnreadable marks a document that could be opened and not be read.
	errUnreadable = errors.New("cannot be read")
)

// readHead reads an entry document up to the end of its frontmatter, and at
// most [frontmatter.MaxHeadBytes]. It follows links inside dir only, and opens nothing
// that could block.
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
	when := time.Now()
	head, err := readUntilClosed(file)
	if err != nil {
		return nil, reading{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	body, err := bodyFault(head, file)
	if err != nil {
		return nil, reading{}, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	return head, reading{filestat.Of(info), when, sha256.Sum256(head), body}, nil
}

// bodyFault returns the place of what is not UTF-8 in the text after the
// frontmatter, of which head holds the beginning, and file the rest.
func bodyFault(head []byte, file io.Reader) (problem.Position, error) {
	p := frontmatter.Split(&problem.Report{}, head, false)
	if !p.Found {
		return problem.Position{}, nil
	}
	rest, err := io.ReadAll(io.LimitReader(file, maxBodyChecked))
	if err != nil {
		return problem.Position{}, err
	}
	body := slices.Concat(p.Body, rest)
	if len(rest) == maxBodyChecked { // the last character may have been cut
		body = body[:len(body)-utf8.UTFMax]
		for len(body) > 0 && !utf8.RuneStart(body[len(body)-1]) {
			body = body[:len(body)-1]
		}
		body = body[:max(0, len(body)-1)]
	}
	at, _ := problem.InvalidUTF8(body, p.BodyLine(head))
	return at, nil
}

// readUntilClosed reads in growing steps, since most frontmatter is short
// and the body is of no use to a scan.
func readUntilClosed(file io.Reader) ([]byte, error) {
	var head []byte
	for size := 4 << 10; ; size *= 4 {
		size = min(size, frontmatter.MaxHeadBytes)
		grown := make([]byte, size)
		n := copy(grown, head)
		m, err := io.ReadFull(file, grown[n:])
		head = grown[:n+m]
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return head, nil
		case err != nil:
			return nil, err
		case size == frontmatter.MaxHeadBytes || frontmatter.Split(&problem.Report{}, head, false).Found:
			return head, nil
		}
	}
}
