package config

import (
	"fmt"
	"maps"

	"go.yaml.in/yaml/v4"
)

// field is a key, what it says, and where its value is read to.
type field struct {
	name string
	doc  string // sentences of Markdown
	// env is what its variable is called after SKILLS_MCP_, and flag whether there
	// is a flag, which is called the same or as.
	env   string
	flag  bool
	as    string
	value value
	// narrows says what a project's file may set it to: nothing if it is empty.
	narrows string
}

// value is where a key's value is read to, and what it may be.
type value interface {
	// read takes the value that stands in a file at a key's path.
	read(r *reader, at string, n *yaml.Node)
	// set takes the texts of flags, or the one of a variable.
	set(texts []string) error
	// schema returns what read accepts, as a JSON Schema.
	schema() object
	// print writes the value below a key.
	print(p *printer, at, key string)
	// narrow takes from a project's value, which is of the same kind, what is
	// stricter. bound is what must not be widened.
	narrow(n *narrowing, at string, bound, project value)
}

// object is a JSON object.
type object = map[string]any

// scalar is a value of one word.
type scalar[T comparable] struct {
	to *T
	// tags are the kinds of YAML scalars that it is written as.
	tags   []string
	parse  func(text string) (T, error)
	format func(T) string
	// means says in Markdown what it may be.
	means string
	json  object
	// wider reports whether a value grants more than another one.
	wider func(value, than T) bool
}

// The kinds of YAML scalars.
const (
	tagText    = "!!str"
	tagInteger = "!!int"
	tagFloat   = "!!float"
	tagBoolean = "!!bool"
)

func (s scalar[T]) read(r *reader, at string, n *yaml.Node) {
	text, ok := r.scalar(at, n, s.means, s.tags...)
	if !ok {
		return
	}
	parsed, err := s.parse(text)
	if err != nil {
		r.refuse(at, n, "%v", err)
		return
	}
	*s.to = parsed
	r.took(at, n)
}

func (s scalar[T]) set(texts []string) error {
	if len(texts) != 1 {
		return fmt.Errorf("takes one value, not %d", len(texts))
	}
	parsed, err := s.parse(texts[0])
	if err == nil {
		*s.to = parsed
	}
	return err
}

func (s scalar[T]) schema() object { return s.json }

func (s scalar[T]) print(p *printer, at, key string) {
	p.line(key+": "+s.format(*s.to), at)
}

func (s scalar[T]) narrow(n *narrowing, at string, bound, project value) {
	if _, given := n.given[at]; !given {
		return
	}
	limit, wanted := *bound.(scalar[T]).to, *project.(scalar[T]).to
	if s.wider(wanted, limit) {
		n.refuse(at, "%s is more than %s, which is in force; a project's file can only narrow", s.format(wanted), s.format(limit))
		return
	}
	if wanted != *s.to {
		*s.to = wanted
		n.took(at)
	}
}

// group is a mapping with keys of its own.
type group []field

func (g group) read(r *reader, at string, n *yaml.Node) {
	r.mapping(at, n, func(name string, key, value *yaml.Node) {
		for _, f := range g {
			if f.name != name {
				continue
			}
			if r.mayHold(f, join(at, name), key) {
				f.value.read(r, join(at, name), value)
			}
			return
		}
		r.refuse(join(at, name), key, "unknown key%s", r.known(g, name))
	})
}

func (g group) set([]string) error { return fmt.Errorf("has keys of its own") }

func (g group) schema() object {
	properties := object{}
	for _, f := range g {
		schema := object{"description": f.doc}
		maps.Copy(schema, f.value.schema())
		properties[f.name] = schema
	}
	return object{"type": "object", "properties": properties, "additionalProperties": false}
}

func (g group) print(p *printer, at, key string) {
	if key != "" {
		p.line(key+":", "")
		p.depth++
		defer func() { p.depth-- }()
	}
	for _, f := range g {
		f.value.print(p, join(at, f.name), f.name)
	}
}

func (g group) narrow(n *narrowing, at string, bound, project value) {
	for i, f := range g {
		f.value.narrow(n, join(at, f.name), bound.(group)[i].value, project.(group)[i].value)
	}
}

// names returns the names of the keys.
func (g group) names() []string {
	names := make([]string, len(g))
	for i, f := range g {
		names[i] = f.name
	}
	return names
}

// join returns the path of a key in a group; the outermost group's is empty.
func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}
