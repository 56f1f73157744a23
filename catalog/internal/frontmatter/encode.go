package frontmatter

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

const (
	// maxDepth bounds how deep values may nest.
	maxDepth = 64
	// maxJSON bounds the JSON, in bytes, and so the values, once aliases
	// are resolved. 64 KiB of YAML without aliases cannot reach it.
	maxJSON = 1 << 20
	// maxKey bounds a key, in characters (YAML 1.2.2, section 7.4.2). Other
	// readers hold keys to it.
	maxKey = 1024
)

// encoder writes YAML nodes as JSON. Its methods return false where they
// reported what makes the frontmatter unusable though it is YAML.
type encoder struct {
	report *problem.Report
	offset int // lines of the document before the YAML
	out    bytes.Buffer
	depth  int
}

func (e *encoder) refuse(rule string, n *yaml.Node, format string, args ...any) bool {
	e.report.Add(rule, e.at(n), format, args...)
	return false
}

// value encodes n. Problems are placed at where, which is the alias that led
// to n if there is one.
func (e *encoder) value(n, where *yaml.Node) bool {
	if e.out.Len() > maxJSON {
		return e.refuse("yaml-alias", where, "the aliases of the frontmatter expand to too much")
	}
	if e.depth >= maxDepth { // an alias inside of what it stands for ends here too
		return e.refuse("yaml-depth", where, "values nest more than %d deep", maxDepth)
	}
	e.depth++
	defer func() { e.depth-- }()
	if n.Kind == yaml.AliasNode {
		e.subset(where, "an alias")
		return e.value(n.Alias, where)
	}
	if n == where && n.Anchor != "" { // an alias is reported as such
		e.subset(where, "an anchor")
	}
	if n == where && n.Style&yaml.FlowStyle != 0 {
		e.subset(where, "a flow collection")
	}
	if n == where && n.Kind != yaml.ScalarNode && n.Style&yaml.TaggedStyle != 0 {
		e.subset(where, "a tag")
	}
	switch n.Kind {
	case yaml.MappingNode:
		e.foreignTag(n, where, "!!map")
		e.indentation(n)
		return e.mapping(n)
	case yaml.SequenceNode:
		e.foreignTag(n, where, "!!seq")
		return e.sequence(n)
	default:
		e.out.Write(e.scalar(n, where))
		return true
	}
}

func (e *encoder) mapping(n *yaml.Node) bool {
	seen := make(map[string]bool, len(n.Content)/2)
	e.out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if !e.key(n.Content[i], seen) || !e.value(n.Content[i+1], n.Content[i+1]) {
			return false
		}
	}
	e.out.WriteByte('}')
	return true
}

// indentation reports mappings beside each other that are not equally deep, which
// the reference validator refuses.
func (e *encoder) indentation(n *yaml.Node) {
	var first *yaml.Node
	for i := 1; i < len(n.Content); i += 2 {
		switch value := n.Content[i]; {
		case value.Kind != yaml.MappingNode:
		case first == nil:
			first = value
		case value.Column != first.Column:
			e.subset(value, "mappings that are not equally deep")
		}
	}
}

// key encodes a mapping's key, which JSON wants to be a string (RFC 8259,
// section 4). A scalar of another type is taken as its author wrote it. Equal
// values are one key: 1 and 1.0.
func (e *encoder) key(n *yaml.Node, seen map[string]bool) bool {
	if target(n).Kind != yaml.ScalarNode {
		return e.refuse("yaml-key-type", n, "a key is not a string but a collection")
	}
	key := target(n).Value
	if utf8.RuneCountInString(key) > maxKey {
		return e.refuse("yaml-syntax", n, "a key is longer than %d characters", maxKey)
	}
	value := key
	if encoded := string(e.scalar(target(n), n)); encoded[0] != '"' {
		if key == "" {
			return e.refuse("yaml-key-type", n, "a key is missing")
		}
		value = encoded
		e.report.Add("yaml-key-scalar", e.at(n), "the key %s is not a string in YAML", problem.Clip(key))
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Tag == "!!merge" {
		e.subset(n, "an anchor, an alias or a merge key")
	}
	if seen[key] || seen[value] {
		return e.refuse("yaml-duplicate-key", n, "the key %q stands there twice", problem.Clip(key))
	}
	seen[key], seen[value] = true, true
	e.out.Write(quoteJSON(key))
	e.out.WriteByte(':')
	return true
}

func (e *encoder) sequence(n *yaml.Node) bool {
	e.out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if !e.value(item, item) {
			return false
		}
	}
	e.out.WriteByte(']')
	return true
}

// foreignTag reports a tag outside of the core schema; the value is read as
// if the tag were not there.
func (e *encoder) foreignTag(n, where *yaml.Node, core string) {
	if n.Style&yaml.TaggedStyle != 0 && n.Tag != core {
		e.report.Add("yaml-tag", e.at(where), "the tag %s was ignored", problem.Clip(n.Tag))
	}
}

// subset reports what skills-ref, which reads YAML with StrictYAML, rejects.
func (e *encoder) subset(where *yaml.Node, what string) {
	e.report.Add("yaml-subset", e.at(where), "the reference validator does not read %s", what)
}

func (e *encoder) at(n *yaml.Node) problem.Position {
	return problem.At(e.offset+n.Line, n.Column)
}

// quoteJSON writes a JSON string, characters verbatim wherever JSON lets
// them be.
func quoteJSON(text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	// A string always has an encoding, and a bytes.Buffer takes it.
	_ = encoder.Encode(text)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
