package frontmatter

import (
	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// Field is a key of a mapping with its value.
type Field struct {
	Key   string
	At    problem.Position // of the key
	Value Value
}

// Value is a value of a frontmatter. The zero value is none: it is null.
type Value struct {
	node   *yaml.Node
	offset int // lines of the document before the YAML
}

// At returns where the value, or the alias that stands for it, begins.
func (v Value) At() problem.Position { return problem.At(v.offset+v.node.Line, v.node.Column) }

// JSON returns the value as compact JSON.
func (v Value) JSON() string {
	e := &encoder{report: &problem.Report{}}
	// It was encoded before as part of the whole, so it is within bounds.
	if v.node == nil || !e.value(v.node, v.node) {
		return "null"
	}
	return e.out.String()
}

// IsString reports whether the value is a string in YAML.
func (v Value) IsString() bool { return v.JSON()[0] == '"' }

// IsNull reports whether the value is null, or none.
func (v Value) IsNull() bool { return v.JSON() == "null" }

// Scalar returns the text of a scalar as its author wrote it.
func (v Value) Scalar() (text string, ok bool) {
	if v.node == nil || target(v.node).Kind != yaml.ScalarNode {
		return "", false
	}
	return target(v.node).Value, true
}

// Items returns the items of a sequence.
func (v Value) Items() (items []Value, ok bool) {
	if v.node == nil || target(v.node).Kind != yaml.SequenceNode {
		return nil, false
	}
	for _, item := range target(v.node).Content {
		items = append(items, Value{item, v.offset})
	}
	return items, true
}

// IsMapping reports whether the value is a mapping.
func (v Value) IsMapping() bool { return v.node != nil && target(v.node).Kind == yaml.MappingNode }

// Fields returns the fields of a mapping.
func (v Value) Fields() (fields []Field) {
	content := target(v.node).Content
	for i := 0; i+1 < len(content); i += 2 {
		key := Value{content[i], v.offset}
		fields = append(fields, Field{target(key.node).Value, key.At(), Value{content[i+1], v.offset}})
	}
	return fields
}

// target follows an alias.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
