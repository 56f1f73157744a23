package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// maxItems bounds lists, and how many skills have a section.
const maxItems = 4096

// list is a sequence of values, each a text or a mapping. A project's own are
// added to it.
type list[T any] struct {
	to *[]T
	// parse reads an item that is a text, and format writes it.
	parse  func(text string) (T, error)
	format func(T) string
	// fields are the keys of an item that is a mapping; nil where none may be.
	fields func(*T) group
	blank  T // what an item has where it says nothing
	// required is the key that no item lacks.
	required string
	means    string
	item     object // the schema of an item that is a text
	same     func(a, b T) bool
}

// texts is a list of texts that a check allows.
func texts(to *[]string, means string, item object, check func(string) error) value {
	return list[string]{
		to:     to,
		parse:  func(text string) (string, error) { return text, checkText(text, check) },
		format: scalarYAML,
		means:  means, item: item,
		same: func(a, b string) bool { return a == b },
	}
}

func (l list[T]) read(r *reader, at string, n *yaml.Node) {
	if !r.plain(at, n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.refuse(at, n, "is %s, not a list (- on a line of its own for each item)", kindOf(n))
		return
	}
	r.took(at, n)
	if len(n.Content) > maxItems {
		r.refuse(at, n, "has more than %d items", maxItems)
		return
	}
	items := make([]T, 0, len(n.Content))
	for i, node := range n.Content {
		item, ok := l.readItem(r, at+"["+strconv.Itoa(i)+"]", node)
		if ok && l.fields == nil && slices.ContainsFunc(items, func(other T) bool { return l.same(item, other) }) {
			r.refuse(at, node, "%s stands there twice", quoted(node.Value))
		}
		items = append(items, item)
	}
	*l.to = items
}

func (l list[T]) readItem(r *reader, at string, n *yaml.Node) (T, bool) {
	item := l.blank
	if n.Kind == yaml.MappingNode && l.fields != nil && r.plain(at, n) {
		fields := l.fields(&item)
		before := len(r.faults)
		fields.read(r, at, n)
		if _, given := r.origins[join(at, l.required)]; !given && len(r.faults) == before {
			r.refuse(at, n, "lacks %s", l.required)
		}
		r.took(at, n)
		return item, true
	}
	text, ok := r.scalar(at, n, l.means, tagText)
	if !ok {
		return item, false
	}
	item, err := l.parse(text)
	if err != nil {
		r.refuse(at, n, "%v", err)
		return item, false
	}
	r.took(at, n)
	return item, true
}

// set takes the values of a flag that can be repeated. Where there is one, it
// may be a YAML list, or several values separated by commas, as in a variable.
func (l list[T]) set(texts []string) error {
	items := make([]T, 0, len(texts))
	for _, text := range texts {
		item, err := l.parse(text)
		if err != nil {
			return err
		}
		items = append(items, item)
	}
	*l.to = items
	return nil
}

func (l list[T]) schema() object {
	item := l.item
	if l.fields != nil {
		mapping := l.itemFields().schema()
		mapping["required"] = []string{l.required}
		item = object{"anyOf": []object{item, mapping}}
	}
	schema := object{"type": "array", "items": item, "maxItems": maxItems}
	if l.fields == nil {
		schema["uniqueItems"] = true
	}
	return schema
}

// itemFields returns the keys of an item that is a mapping.
func (l list[T]) itemFields() group {
	if l.fields == nil {
		return nil
	}
	blank := l.blank
	return l.fields(&blank)
}

func (l list[T]) print(p *printer, at, key string) {
	if len(*l.to) == 0 {
		p.line(key+": []", at)
		return
	}
	p.line(key+":", at)
	p.depth++
	defer func() { p.depth-- }()
	for i, item := range *l.to {
		where := at + "[" + strconv.Itoa(i) + "]"
		if l.fields == nil {
			p.line("- "+l.format(item), where)
			continue
		}
		p.item(l.fields(&item), l.itemFields(), where)
	}
}

// narrow adds a project's items.
func (l list[T]) narrow(n *narrowing, at string, _, project value) {
	if _, given := n.given[at]; !given {
		return
	}
	for i, item := range *project.(list[T]).to {
		if slices.ContainsFunc(*l.to, func(other T) bool { return l.same(item, other) }) {
			continue
		}
		n.effective.origins[at+"["+strconv.Itoa(len(*l.to))+"]"] = n.given[at+"["+strconv.Itoa(i)+"]"]
		*l.to = append(slices.Clip(*l.to), item)
	}
}

// variableItems returns the values of a list in a variable of the environment.
func variableItems(text string) []string {
	var items []string
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// visible is which skills of a root there are: all, none, or those of some
// names.
type visible struct{ to *[]string }

func (v visible) names() list[string] {
	return texts(v.to, "names of skills, in which `*` stands for any characters", nameSchema(), namePattern).(list[string])
}

func (v visible) read(r *reader, at string, n *yaml.Node) {
	if n.Kind == yaml.SequenceNode {
		v.names().read(r, at, n)
		return
	}
	all := false
	if n.Kind != yaml.ScalarNode || n.ShortTag() != tagBoolean {
		r.refuse(at, n, "is %s, not true, false or a list of names", kindOf(n))
		return
	}
	boolean(&all).read(r, at, n)
	*v.to = []string{}
	if all {
		*v.to = []string{"*"}
	}
}

func (v visible) set(texts []string) error { return v.names().set(texts) }

func (v visible) schema() object {
	return object{"anyOf": []object{{"type": "boolean"}, v.names().schema()}}
}

func (v visible) print(p *printer, at, key string) {
	switch {
	case len(*v.to) == 0:
		p.line(key+": false", at)
	case len(*v.to) == 1 && (*v.to)[0] == "*":
		p.line(key+": true", at)
	default:
		v.names().print(p, at, key)
	}
}

func (v visible) narrow(*narrowing, string, value, value) {}

// sections are groups of keys by names that the user chooses.
type sections[T any] struct {
	to     *map[string]T
	fields func(*T) group
	check  func(name string) error
	means  string
	// resolve returns what holds for a name, nothing of it zero.
	resolve func(name string) T
}

func (s sections[T]) read(r *reader, at string, n *yaml.Node) {
	r.took(at, n)
	r.mapping(at, n, func(name string, key, value *yaml.Node) {
		if err := checkText(name, s.check); err != nil {
			r.refuse(at, key, "%v", err)
			return
		}
		if *s.to == nil {
			*s.to = map[string]T{}
		}
		var section T
		s.fields(&section).read(r, at+"."+name, value)
		if len(*s.to) == maxItems {
			r.refuse(at, key, "has more than %d sections", maxItems)
			return
		}
		(*s.to)[name] = section
		r.took(at+"."+name, key)
	})
}

func (s sections[T]) set([]string) error { return fmt.Errorf("has keys of its own") }

func (s sections[T]) schema() object {
	return object{"type": "object", "additionalProperties": s.itemFields().schema(), "maxProperties": maxItems,
		"propertyNames": object{"type": "string", "maxLength": maxTextChars}}
}

// itemFields returns the keys of a section.
func (s sections[T]) itemFields() group {
	var blank T
	return s.fields(&blank)
}

// narrow makes the sections of a project part of those that there are.
func (s sections[T]) narrow(n *narrowing, at string, _, project value) {
	wanted := *project.(sections[T]).to
	for _, name := range sortedKeys(wanted) {
		section, bound, own := (*s.to)[name], s.resolve(name), wanted[name]
		where := at + "." + name
		s.fields(&section).narrow(n, where, s.fields(&bound), s.fields(&own))
		if *s.to == nil {
			*s.to = map[string]T{}
		}
		(*s.to)[name] = section
		if _, known := n.effective.origins[where]; !known {
			n.took(where)
		}
	}
}

func (s sections[T]) print(p *printer, at, key string) {
	if len(*s.to) == 0 {
		p.line(key+": {}", at)
		return
	}
	p.line(key+":", "")
	p.depth++
	defer func() { p.depth-- }()
	for _, name := range sortedKeys(*s.to) {
		section := (*s.to)[name]
		p.section(s.fields(&section), s.itemFields(), at+"."+name, scalarYAML(name))
	}
}
