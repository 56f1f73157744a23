package frontmatter

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// refusal is what makes a frontmatter unusable though it is YAML.
type refusal struct {
	rule    string
	at      problem.Position
	message string
}

func (r *refusal) Error() string { return r.message }

// encoder writes YAML nodes as JSON.
type encoder struct {
	report *problem.Report
	offset int // lines of the document before the YAML
	out    bytes.Buffer
	depth  int
}

// value encodes n. Problems are placed at where, which is the alias that led
// to n if there is one.
func (e *encoder) value(n, where *yaml.Node) error {
	if e.out.Len() > maxJSON {
		return &refusal{"yaml-alias", e.at(where), "the aliases of the frontmatter expand to too much"}
	}
	if e.depth >= maxDepth {
		// An alias inside of what it stands for ends here too.
		return &refusal{"yaml-depth", e.at(where), fmt.Sprintf("values nest more than %d deep", maxDepth)}
	}
	if n.Kind == yaml.AliasNode {
		e.subset(where, "an alias")
		e.depth++
		defer func() { e.depth-- }()
		return e.value(n.Alias, where)
	}
	if n == where && n.Anchor != "" { // an alias is reported as such
		e.subset(where, "an anchor")
	}
	if n == where && n.Style&yaml.FlowStyle != 0 {
		e.subset(where, "a flow collection")
	}
	switch n.Kind {
	case yaml.MappingNode:
		return e.mapping(n, where)
	case yaml.SequenceNode:
		return e.sequence(n, where)
	default:
		e.out.Write(e.scalar(n, where))
		return nil
	}
}

func (e *encoder) mapping(n, where *yaml.Node) error {
	e.foreignTag(n, where, "!!map")
	e.depth++
	defer func() { e.depth-- }()
	seen := make(map[string]bool, len(n.Content)/2)
	e.out.WriteByte('{')
	for i := 0; i+1 < len(n.Content); i += 2 {
		node := n.Content[i]
		key, value, err := e.key(node)
		if err != nil {
			return err
		}
		if seen[key] || seen[value] {
			return &refusal{"yaml-duplicate-key", e.at(node), fmt.Sprintf("the key %q stands there twice", problem.Clip(key))}
		}
		seen[key], seen[value] = true, true
		if i > 0 {
			e.out.WriteByte(',')
		}
		e.out.Write(quoteJSON(key))
		e.out.WriteByte(':')
		if err := e.value(n.Content[i+1], n.Content[i+1]); err != nil {
			return err
		}
	}
	e.out.WriteByte('}')
	return nil
}

// key returns a mapping's key, which JSON wants to be a string (RFC 8259,
// section 4). A scalar of another type is taken as its author wrote it. Equal
// values are one key: 1 and 1.0.
func (e *encoder) key(n *yaml.Node) (key, value string, err error) {
	scalar := target(n)
	if scalar.Kind != yaml.ScalarNode {
		return "", "", &refusal{"yaml-key-type", e.at(n), "a key is not a string but a collection"}
	}
	value = scalar.Value
	if utf8.RuneCountInString(value) > maxKey {
		return "", "", &refusal{"yaml-syntax", e.at(n), fmt.Sprintf("a key is longer than %d characters", maxKey)}
	}
	if encoded := string(e.scalar(scalar, n)); encoded[0] != '"' {
		if value == "" {
			return "", "", &refusal{"yaml-key-type", e.at(n), "a key is missing"}
		}
		value = encoded
		e.report.Add("yaml-key-scalar", e.at(n), "the key %s is not a string in YAML", problem.Clip(scalar.Value))
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Tag == "!!merge" {
		e.subset(n, "an anchor, an alias or a merge key")
	}
	return scalar.Value, value, nil
}

func (e *encoder) sequence(n, where *yaml.Node) error {
	e.foreignTag(n, where, "!!seq")
	e.depth++
	defer func() { e.depth-- }()
	e.out.WriteByte('[')
	for i, item := range n.Content {
		if i > 0 {
			e.out.WriteByte(',')
		}
		if err := e.value(item, item); err != nil {
			return err
		}
	}
	e.out.WriteByte(']')
	return nil
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
