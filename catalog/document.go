package catalog

import (
	"bytes"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

const (
	// maxFrontmatterBytes bounds the YAML between the delimiters, in bytes.
	maxFrontmatterBytes = 64 << 10
	// maxHeadBytes bounds what a scan reads of an entry document, in bytes:
	// a byte-order mark, blank lines, both delimiters and the frontmatter.
	maxHeadBytes = maxFrontmatterBytes + 4<<10
	// maxLeadingBlank bounds the blank lines before the frontmatter.
	maxLeadingBlank = 16
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Document is a parsed entry document.
type Document struct {
	// Frontmatter is the whole frontmatter as a JSON object, verbatim, or nil
	// where it could not be read.
	Frontmatter []byte
	// Body is the Markdown after the frontmatter, without the byte-order
	// mark, line endings as they stand. Bytes that are not UTF-8 are replaced
	// by U+FFFD. Where no frontmatter was found it is the whole document.
	Body string
}

// ParseDocument splits and decodes an entry document. The file is the name
// that the problems carry. Problems of what the frontmatter says, such as a
// missing name, are not looked for.
//
// The frontmatter is read as YAML 1.2 in its core schema. In JSON, numbers
// are those that a JavaScript or Python reader would write (1.10 is 1.1),
// except that whole numbers keep all their digits; infinities and NaN, which
// JSON has not, are null, with a problem.
func ParseDocument(file string, data []byte) (Document, []Problem) {
	r := &report{file: file}
	p := splitDocument(r, data, true)
	var doc Document
	if p.found {
		if m, ok := decodeFrontmatter(r, p.yaml, p.line); ok {
			doc.Frontmatter = m.json
		}
	}
	if at := invalidUTF8(p.body, p.bodyLine(data)); at.line > 0 {
		reportBody(r, at)
		p.body = bytes.ToValidUTF8(p.body, []byte("\ufffd"))
	}
	doc.Body = string(p.body)
	return doc, r.problems
}

func reportBody(r *report, at position) {
	r.add("body-encoding", at, "the text after the frontmatter is not UTF-8")
}

// parts are the pieces of an entry document.
type parts struct {
	found bool   // both delimiters are there
	yaml  []byte // between the delimiters
	line  int    // the line, from 1, on which yaml begins
	body  []byte
}

// bodyLine returns the line of the document on which its body begins.
func (p parts) bodyLine(data []byte) int {
	return 1 + bytes.Count(data[:len(data)-len(p.body)], []byte("\n"))
}

// splitDocument finds the frontmatter. Only --- is a delimiter, on a line of
// its own but for trailing white space; whole tells that data is the whole
// document and not only its head.
func splitDocument(r *report, data []byte, whole bool) parts {
	if bytes.HasPrefix(data, byteOrderMark) {
		r.add("byte-order-mark", position{1, 1}, "the file begins with a byte-order mark")
		data = data[len(byteOrderMark):]
	}
	rest, blank := data, 0
	line, next := cutLine(rest)
	for len(rest) > 0 && len(line) == 0 && blank < maxLeadingBlank {
		rest, blank = next, blank+1
		line, next = cutLine(rest)
	}
	if !isDelimiter(line) {
		r.add("frontmatter-missing", position{1, 1}, "the file does not begin with frontmatter, a line that is exactly ---")
		return parts{body: data}
	}
	if blank > 0 {
		r.add("frontmatter-blank-lines", position{1, 1}, "blank lines stand before the frontmatter")
	}
	yaml := next
	for rest = yaml; len(rest) > 0; rest = next {
		line, next = cutLine(rest)
		if isDelimiter(line) {
			return closed(r, parts{found: true, yaml: yaml[:len(yaml)-len(rest)], line: blank + 2, body: next})
		}
	}
	if len(yaml) > maxFrontmatterBytes || !whole {
		r.add("frontmatter-size", position{blank + 1, 1}, "the frontmatter does not end within %d KiB", maxFrontmatterBytes>>10)
	} else {
		r.add("frontmatter-unclosed", position{blank + 1, 1}, "the frontmatter has no line --- that ends it")
	}
	return parts{body: data}
}

func closed(r *report, p parts) parts {
	if len(p.yaml) > maxFrontmatterBytes {
		r.add("frontmatter-size", position{p.line - 1, 1}, "the frontmatter is longer than %d KiB", maxFrontmatterBytes>>10)
		p.found = false
	}
	return p
}

// cutLine gives the first line without its ending and trailing white space,
// and what follows it.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return bytes.TrimRight(line, " \t\r"), rest
}

func isDelimiter(line []byte) bool { return string(line) == "---" }

// carriesFrontmatter tells whether a document's head begins with a delimiter.
func carriesFrontmatter(head []byte) bool {
	line, _ := cutLine(bytes.TrimPrefix(head, byteOrderMark))
	return isDelimiter(line)
}

// clip shortens untrusted text for a message.
func clip(text string) string {
	return strings.ToValidUTF8(truncate.After(text, 80), "\ufffd")
}
