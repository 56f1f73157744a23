package catalog

import (
	"bytes"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// Repair returns an entry document without the faults that need nobody's judgement
// to correct: a byte-order mark, line endings other than LF, blank lines before the
// frontmatter, and in there values without the quotes that they need, and
// allowed_tools. What its values say stays the same. A document without a
// frontmatter that can be found then is returned as it is.
func Repair(data []byte) []byte {
	if !utf8.Valid(data) {
		return data
	}
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	text = LineFeeds(text)
	p := frontmatter.Split(&problem.Report{}, text, true)
	if !p.Found {
		return data
	}
	begin := bytes.Index(text, []byte("---")) // only blank lines are before it
	begin = bytes.LastIndexByte(text[:begin], '\n') + 1
	yaml := len(text) - len(p.Body) // the end of the line that ends it
	closing := bytes.LastIndexByte(bytes.TrimSuffix(text[:yaml], []byte("\n")), '\n') + 1
	return bytes.Join([][]byte{text[begin : closing-len(p.YAML)], frontmatter.Repair(p.YAML), text[closing:]}, nil)
}

// LineFeeds returns a text whose lines end in LF, and not in CR LF or CR.
func LineFeeds(text []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
}
