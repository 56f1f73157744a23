package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// mapping is a decoded frontmatter.
type mapping struct {
	json   []byte
	fields []field
	offset int // lines of the document before the YAML
}

// at gives a node's place in the document.
func (m mapping) at(n *yaml.Node) position { return position{m.offset + n.Line, n.Column} }

// field is one top-level key with its value, aliases resolved.
type field struct {
	key   string
	at    position
	value *yaml.Node
}

// decodeFrontmatter decodes YAML that begins on that line of the document.
func decodeFrontmatter(r *report, source []byte, line int) (mapping, bool) {
	if at := invalidUTF8(source, line); at.line > 0 {
		r.add("encoding", at, "the frontmatter is not UTF-8")
		return mapping{}, false
	}
	if at, c := oddBreak(source, line); at.line > 0 {
		r.add("yaml-syntax", at, "the frontmatter holds U+%04X, which some readers of YAML take for the end of the line and others do not", c)
		return mapping{}, false
	}
	text := strings.TrimPrefix(string(source), string(byteOrderMark))
	root, err := parseTabs(text)
	if err != nil && !errors.Is(err, errDocuments) {
		if quoted, lines := quoteColons(text); len(lines) > 0 {
			if again, retry := parseTabs(quoted); retry == nil {
				root, err = again, nil
				for _, n := range lines {
					r.add("yaml-colon", position{line + n, 1}, "a value with an unquoted colon was read as a string")
				}
			}
		}
	}
	if err != nil {
		reportSyntax(r, err, line)
		return mapping{}, false
	}
	if root == nil || root.Kind != yaml.MappingNode {
		r.add("frontmatter-type", position{line, 1}, "the frontmatter is not a mapping of keys to values")
		return mapping{}, false
	}
	e := &encoder{report: r, offset: line - 1}
	m, err := e.document(root)
	if fault := (*yamlFault)(nil); errors.As(err, &fault) {
		r.add(fault.rule, fault.at, "%s", fault.message)
		return mapping{}, false
	}
	return m, true
}

// invalidUTF8 gives the place of the first byte that is not UTF-8.
func invalidUTF8(source []byte, line int) position {
	if utf8.Valid(source) {
		return position{}
	}
	for i := 0; i < len(source); {
		c, size := utf8.DecodeRune(source[i:])
		if c == utf8.RuneError && size == 1 {
			return positionAt(source, i, line)
		}
		i += size
	}
	return position{}
}

// oddBreak returns the place of the first character that is a line break in
// YAML 1.1, and is none in YAML 1.2 (section 5.4): what follows it is a key of
// its own to some readers.
func oddBreak(source []byte, line int) (position, rune) {
	i := bytes.IndexAny(source, "\u0085\u2028\u2029")
	if i < 0 {
		return position{}, 0
	}
	c, _ := utf8.DecodeRune(source[i:])
	return positionAt(source, i, line), c
}

// positionAt returns the place of a byte of a text that begins on that line.
func positionAt(source []byte, i, line int) position {
	before := source[:i]
	start := bytes.LastIndexByte(before, '\n') + 1
	return position{line + bytes.Count(before, []byte("\n")), utf8.RuneCount(before[start:]) + 1}
}

var (
	errDocuments = errors.New("the frontmatter holds more than one YAML document")
	errParser    = errors.New("the YAML parser gave up")
)

// documentMarker is a line that ends or begins a YAML document.
var documentMarker = regexp.MustCompile(`(?m)^(?:\.\.\.|---)(?:[ \t\r]|$)`)

// parseYAML gives the node below the only document, or nil where there is
// none.
func parseYAML(text string) (root *yaml.Node, err error) {
	// The parser is known to have panicked on hostile input. One skill must
	// not cost the others.
	defer func() {
		if cause := recover(); cause != nil {
			root, err = nil, fmt.Errorf("%w: %v", errParser, cause)
		}
	}()
	guarded, stands := guard(dropDirectives(text))
	decoder := yaml.NewDecoder(strings.NewReader(guarded))
	var document, second yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, err
	}
	if err := decoder.Decode(&second); !errors.Is(err, io.EOF) {
		if err == nil || documentMarker.MatchString(text) {
			err = errDocuments
		}
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, nil
	}
	root = document.Content[0]
	if marks := findNonSpecific(guarded); len(marks) > 0 {
		marks.apply(root)
	}
	if !stands.empty() {
		stands.restore(root)
	}
	return root, nil
}

var yamlErrorLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// reportSyntax turns the parser's error into a problem. The parser counts
// lines from 0 in its grammar and from 1 in its scanner.
func reportSyntax(r *report, err error, line int) {
	if errors.Is(err, errDocuments) {
		r.add("yaml-documents", position{line, 1}, "%v", err)
		return
	}
	at := position{line: line}
	message := err.Error()
	if found := yamlErrorLine.FindStringSubmatch(message); found != nil {
		message = found[2]
		if n, err := strconv.Atoi(found[1]); err == nil {
			at.line = line + n - 1
			if strings.HasPrefix(message, "did not find expected") {
				at.line++
			}
		}
	}
	r.add("yaml-syntax", at, "the frontmatter is not YAML: %s", clip(message))
}
