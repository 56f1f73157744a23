// Package frontmatter reads the YAML between the two --- lines of an entry
// document as JSON, verbatim, and knows where each value stands.
//
// It is read as YAML 1.2 in its core schema. The author is not trusted: what
// is too deep or expands to too much is refused, and so is every text of which
// readers of YAML disagree where a line ends.
package frontmatter

import (
	"bytes"
	"errors"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/yamldoc"
)

// Mapping is a decoded frontmatter.
type Mapping struct {
	JSON   []byte
	Fields []Field
}

// Decode decodes YAML that begins on that line of the document. The result is
// false where that fails for a problem.
func Decode(r *problem.Report, source []byte, line int) (Mapping, bool) {
	if at, invalid := problem.InvalidUTF8(source, line); invalid {
		r.Add("encoding", at, "the frontmatter is not UTF-8")
		return Mapping{}, false
	}
	if i := bytes.IndexFunc(source, yamldoc.IsDisputed); i >= 0 {
		c, _ := utf8.DecodeRune(source[i:])
		r.Add("yaml-syntax", problem.AtByte(source, i, line), "the frontmatter holds U+%04X, which some readers of YAML refuse or take for the end of the line, and others do not", c)
		return Mapping{}, false
	}
	if rest, marked := bytes.CutPrefix(source, byteOrderMark); marked {
		r.Add("byte-order-mark", problem.At(line, 1), "the frontmatter begins with a byte-order mark")
		source = rest
	}
	root, quoted, err := parseForgiving(source)
	if err != nil {
		reportSyntax(r, err, source, line)
		return Mapping{}, false
	}
	for _, n := range quoted {
		r.Add("yaml-colon", problem.At(line+n, 1), "a value with an unquoted colon was read as a string")
	}
	if root == nil || root.Kind != yaml.MappingNode {
		r.Add("frontmatter-type", problem.At(line, 1), "the frontmatter is not a mapping of keys to values")
		return Mapping{}, false
	}
	e := &encoder{report: r, offset: line - 1}
	if !e.value(root, root) {
		return Mapping{}, false
	}
	e.tabs(source, root)
	return Mapping{JSON: e.out.Bytes(), Fields: Value{root, line - 1}.Fields()}, true
}

// reportSyntax turns the parser's error into a problem.
func reportSyntax(r *problem.Report, err error, source []byte, line int) {
	if errors.Is(err, yamldoc.ErrSeveral) {
		r.Add("yaml-documents", problem.At(line, 1), "the frontmatter holds more than one YAML document")
		return
	}
	at := problem.At(line, 1)
	message, faultLine, column := yamldoc.Fault(source, err)
	if faultLine > 0 {
		at = problem.At(line+faultLine-1, column)
	}
	r.Add("yaml-syntax", at, "the frontmatter is not YAML: %s", problem.Clip(message))
}
