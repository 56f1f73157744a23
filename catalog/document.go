package catalog

import (
	"bytes"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// Document is a parsed entry document.
type Document struct {
	// Frontmatter is the whole frontmatter as a JSON object, verbatim, or nil
	// where it could not be read.
	Frontmatter []byte
	// Body is the Markdown after the frontmatter, without the byte-order
	// mark, line endings as they stand. Bytes that are not UTF-8 are replaced
	// by U+FFFD. Where no frontmatter was found it is the whole document.
	Body string
	// Start is where in the document the body begins.
	Start int
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
	r := &problem.Report{File: file}
	p := frontmatter.Split(r, data, true)
	doc := Document{Start: len(data) - len(p.Body)}
	if p.Found {
		if m, ok := frontmatter.Decode(r, p.YAML, p.Line); ok {
			doc.Frontmatter = m.JSON
		}
	}
	if at, invalid := problem.InvalidUTF8(p.Body, p.BodyLine(data)); invalid {
		reportBody(r, at)
		p.Body = bytes.ToValidUTF8(p.Body, []byte("\ufffd"))
	}
	doc.Body = string(p.Body)
	return doc, r.Problems
}

// KeyPosition returns where in an entry document the first of these keys is that
// the frontmatter has, or 1 and 1.
func KeyPosition(data []byte, keys ...string) (line, column int) {
	r := &problem.Report{}
	p := frontmatter.Split(r, data, true)
	m, _ := frontmatter.Decode(r, p.YAML, p.Line)
	for _, key := range keys {
		for _, field := range m.Fields {
			if field.Key == key {
				return field.At.Line, field.At.Column
			}
		}
	}
	return 1, 1
}

func reportBody(r *problem.Report, at problem.Position) {
	r.Add("body-encoding", at, "the text after the frontmatter is not UTF-8")
}
