package frontmatter

import (
	"bytes"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

const (
	// maxBytes bounds the YAML between the delimiters, in bytes.
	maxBytes = 64 << 10
	// MaxHeadBytes bounds what has to be read of an entry document, in bytes:
	// a byte-order mark, blank lines, both delimiters and the frontmatter.
	MaxHeadBytes = maxBytes + 4<<10
	// maxLeadingBlank bounds the blank lines before the frontmatter.
	maxLeadingBlank = 16
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Parts are the pieces of an entry document.
type Parts struct {
	Found bool   // both delimiters are there
	YAML  []byte // between the delimiters
	Line  int    // the line, from 1, on which YAML begins
	Body  []byte // after the frontmatter, or all where there is none
}

// BodyLine returns the line of the document on which its body begins.
func (p Parts) BodyLine(document []byte) int {
	return 1 + bytes.Count(document[:len(document)-len(p.Body)], []byte("\n"))
}

// Split finds the frontmatter. Only --- is a delimiter, on a line of its own
// but for trailing white space; whole says that data is the whole document and
// not only its head.
func Split(r *problem.Report, data []byte, whole bool) Parts {
	if bytes.HasPrefix(data, byteOrderMark) {
		r.Add("byte-order-mark", problem.At(1, 1), "the file begins with a byte-order mark")
		data = data[len(byteOrderMark):]
	}
	rest, blank := data, 0
	line, next := cutLine(rest)
	for len(rest) > 0 && len(line) == 0 && blank < maxLeadingBlank {
		rest, blank = next, blank+1
		line, next = cutLine(rest)
	}
	if !isDelimiter(line) {
		r.Add("frontmatter-missing", problem.At(1, 1), "the file does not begin with frontmatter, a line that is exactly ---")
		return Parts{Body: data}
	}
	if blank > 0 {
		r.Add("frontmatter-blank-lines", problem.At(1, 1), "blank lines stand before the frontmatter")
	}
	yaml := next
	for rest = yaml; len(rest) > 0; rest = next {
		line, next = cutLine(rest)
		if !isDelimiter(line) {
			continue
		}
		p := Parts{Found: true, YAML: yaml[:len(yaml)-len(rest)], Line: blank + 2, Body: next}
		if len(p.YAML) > maxBytes {
			r.Add("frontmatter-size", problem.At(blank+1, 1), "the frontmatter is longer than %d KiB", maxBytes>>10)
			p.Found = false
		}
		return p
	}
	if len(yaml) > maxBytes || !whole {
		r.Add("frontmatter-size", problem.At(blank+1, 1), "the frontmatter does not end within %d KiB", maxBytes>>10)
	} else {
		r.Add("frontmatter-unclosed", problem.At(blank+1, 1), "the frontmatter has no line --- that ends it")
	}
	return Parts{Body: data}
}

// cutLine returns the first line without its ending and trailing white space,
// and what follows it.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return bytes.TrimRight(line, " \t\r"), rest
}

func isDelimiter(line []byte) bool { return string(line) == "---" }

// Begins reports whether a document's head begins with a delimiter.
func Begins(head []byte) bool {
	line, _ := cutLine(bytes.TrimPrefix(head, byteOrderMark))
	return isDelimiter(line)
}
