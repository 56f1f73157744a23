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
	"fmt"
	"io"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
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
	if i := bytes.IndexFunc(source, isDisputed); i >= 0 {
		c, _ := utf8.DecodeRune(source[i:])
		r.Add("yaml-syntax", problem.AtByte(source, i, line), "the frontmatter holds U+%04X, which some readers of YAML refuse or take for the end of the line, and others do not", c)
		return Mapping{}, false
	}
	source = bytes.TrimPrefix(source, byteOrderMark)
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
	return Mapping{JSON: e.out.Bytes(), Fields: Value{root, line - 1}.Fields()}, true
}

// isDisputed reports whether a character breaks lines in YAML 1.1 and not in
// YAML 1.2 (section 5.4), so that what follows is a key of its own to some
// readers, or is not printable (section 5.1), which some refuse.
func isDisputed(c rune) bool {
	switch c {
	case '\t', '\n', '\r':
		return false
	case '\u2028', '\u2029', '\ufffe', '\uffff':
		return true
	}
	return c < ' ' || c >= 0x7f && c < 0xa0
}

var (
	errDocuments = errors.New("the frontmatter holds more than one YAML document")
	errParser    = errors.New("the YAML parser gave up")
)

// parse returns the node below the only document, or nil where there is none.
func parse(source []byte) (root *yaml.Node, err error) {
	// Parsers of YAML are known to have panicked on hostile input. One skill
	// must not cost the others.
	defer func() {
		if cause := recover(); cause != nil {
			root, err = nil, fmt.Errorf("%w: %v", errParser, cause)
		}
	}()
	loader, err := yaml.NewLoader(bytes.NewReader(source))
	if err != nil {
		return nil, err
	}
	var document, second yaml.Node
	if err := loader.Load(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	if err := loader.Load(&second); err == nil {
		return nil, errDocuments
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, nil
	}
	return document.Content[0], nil
}

// reportSyntax turns the parser's error into a problem.
func reportSyntax(r *problem.Report, err error, source []byte, line int) {
	if errors.Is(err, errDocuments) {
		r.Add("yaml-documents", problem.At(line, 1), "%v", err)
		return
	}
	at, message := problem.At(line, 1), err.Error()
	if fault := (*yaml.LoadError)(nil); errors.As(err, &fault) {
		message = fault.Message
		mark := fault.Mark
		if mark.Line > bytes.Count(source, []byte("\n")) && fault.ContextMark.Line > 0 {
			mark = fault.ContextMark // the beginning of what does not end
		}
		if mark.Line > 0 {
			at = problem.At(line+mark.Line-1, mark.Column)
		}
	}
	r.Add("yaml-syntax", at, "the frontmatter is not YAML: %s", problem.Clip(message))
}
