package yamldoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/internal/lazyregexp"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

const (
	// maxDepth bounds how deep values of a strict document may nest.
	maxDepth = 32
	// maxRefusals bounds how much of one document is named.
	maxRefusals = 20
)

// numberLike is what is a number, a time, true, false or nothing to some reader
// of YAML, of version 1.1 too.
var numberLike = lazyregexp.New(`(?i)^([-+]?[0-9][0-9_.:]*(e[-+]?[0-9]+)?|0[xob][0-9a-f_]+|[-+]?\.(inf|[0-9].*)|\.nan|~|null|yes|no|on|true|false|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*|<<|=|)$`)

// jsonNumber is a number in JSON, and to all readers of YAML.
var jsonNumber = lazyregexp.New(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[-+][0-9]+)?$`)

// IsNumberLike reports whether a text without quotes is a number, a time, true,
// false or nothing to some reader of YAML.
func IsNumberLike(text string) bool { return numberLike().MatchString(text) }

// Refusal is what is wrong with a document, and where: at a line and a column,
// counted from 1, or 0 where that is not known.
type Refusal struct {
	Line, Column int
	Message      string
}

// Strict is a document in which all readers of YAML see the same: it has no
// anchors, aliases and tags, no keys twice, and no texts that are something else to
// some.
type Strict struct {
	// JSON is what it says.
	JSON json.RawMessage
	root *yaml.Node
}

// ParseStrict reads a text, or says what is wrong with it. A document without
// content is null.
func ParseStrict(source []byte) (*Strict, []Refusal) {
	source = bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	if i := Undecodable(source); i >= 0 {
		before := source[:i]
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
		return nil, []Refusal{{bytes.Count(before, []byte("\n")) + 1, column, "the file is not UTF-8, or holds a control character"}}
	}
	root, err := Parse(source)
	if err != nil {
		message, line, column := Fault(source, err)
		return nil, []Refusal{{line, column, "the file is not YAML that can be read: " + truncate.To(message, 200)}}
	}
	s := strict{}
	if root == nil {
		s.out.WriteString("null")
	} else {
		s.value(root, 0)
	}
	if len(s.refusals) > 0 {
		return nil, s.refusals
	}
	return &Strict{JSON: s.out.Bytes(), root: root}, nil
}

// Undecodable returns where a text holds what no reader of YAML should be given,
// or -1.
func Undecodable(source []byte) int {
	for i := 0; i < len(source); {
		c, size := utf8.DecodeRune(source[i:])
		if c == utf8.RuneError && size == 1 || IsDisputed(c) {
			return i
		}
		i += size
	}
	return -1
}

// Position returns where a value stands to which keys and indexes lead, or the
// last part of the way that is there; with atKey, where its key does.
func (s *Strict) Position(path []string, atKey bool) (line, column int) {
	n, found := s.root, s.root
	for i, step := range path {
		key, next := child(n, step)
		if next == nil {
			break
		}
		n, found = next, next
		if key != nil && (atKey && i == len(path)-1) {
			found = key
		}
	}
	if found == nil {
		return 1, 1
	}
	return found.Line, found.Column
}

// child returns what a step leads to, and its key in a mapping.
func child(n *yaml.Node, step string) (key, value *yaml.Node) {
	if n == nil {
		return nil, nil
	}
	if n.Kind == yaml.SequenceNode {
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(n.Content) {
			return nil, n.Content[i]
		}
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == step {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// strict writes nodes as JSON.
type strict struct {
	out      bytes.Buffer
	refusals []Refusal
}

func (s *strict) refuse(n *yaml.Node, format string, args ...any) {
	if len(s.refusals) < maxRefusals {
		s.refusals = append(s.refusals, Refusal{n.Line, n.Column, fmt.Sprintf(format, args...)})
	}
}

func (s *strict) value(n *yaml.Node, depth int) {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		s.refuse(n, "anchors and aliases are not read; write the value out")
	case n.Style&yaml.TaggedStyle != 0 || n.Tag == "!":
		s.refuse(n, "tags such as !!str are not read; quote a text instead")
	case depth == maxDepth:
		s.refuse(n, "values nest more than %d deep", maxDepth)
	case n.Kind == yaml.MappingNode:
		s.mapping(n, depth)
	case n.Kind == yaml.SequenceNode:
		s.sequence(n, depth)
	default:
		s.scalar(n)
	}
}

func (s *strict) mapping(n *yaml.Node, depth int) {
	seen := make(map[string]int, len(n.Content)/2)
	s.out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch line, twice := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Anchor != "" || key.ShortTag() != "!!str" || key.Style&yaml.TaggedStyle != 0 || key.Style == 0 && IsNumberLike(key.Value):
			s.refuse(key, "a key is not a text; write it in quotes if it is one")
		case twice:
			s.refuse(key, "the key %s stands there twice, first on line %d", quoted(key.Value), line)
		}
		seen[key.Value] = key.Line
		if i > 0 {
			s.out.WriteByte(',')
		}
		s.text(key.Value)
		s.out.WriteByte(':')
		s.value(n.Content[i+1], depth+1)
	}
	s.out.WriteByte('}')
}

func (s *strict) sequence(n *yaml.Node, depth int) {
	s.out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			s.out.WriteByte(',')
		}
		s.value(item, depth+1)
	}
	s.out.WriteByte(']')
}

func (s *strict) scalar(n *yaml.Node) {
	switch tag := n.ShortTag(); {
	case tag == "!!str" && n.Style == 0 && IsNumberLike(n.Value):
		s.refuse(n, "%s is a text to some readers of YAML and not to others; write it in quotes", quoted(n.Value))
	case tag == "!!str":
		s.text(n.Value)
	case tag == "!!null":
		s.out.WriteString("null")
	case tag == "!!bool" && (n.Value == "true" || n.Value == "false"):
		s.out.WriteString(n.Value)
	case (tag == "!!int" || tag == "!!float") && jsonNumber().MatchString(n.Value):
		s.out.WriteString(n.Value)
	default:
		s.refuse(n, "%s is no text, number, true or false to all readers of YAML; write it in quotes if it is a text", quoted(n.Value))
	}
}

func (s *strict) text(text string) {
	encoded, _ := json.Marshal(text) // a string always has an encoding
	s.out.Write(encoded)
}

// quoted shows a text of a document.
func quoted(text string) string {
	const longest = 80
	return fmt.Sprintf("%q", truncate.To(text, longest))
}
