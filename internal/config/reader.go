package config

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/skills-mcp/skills-mcp/internal/yamldoc"
)

// reader reads one file, and collects what is wrong with it.
type reader struct {
	kind    Kind
	file    string
	origins map[string]Origin // of the values that were read, by their keys' paths
	faults  []Fault
}

// readFile reads the text of a file to the places of the fields.
func (r *reader) readFile(source []byte, fields group) error {
	source = bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	root := r.parse(source)
	if root != nil {
		fields.read(r, "", root)
	}
	if len(r.faults) > 0 {
		return &Error{Faults: r.faults}
	}
	return nil
}

func (r *reader) parse(source []byte) *yaml.Node {
	if i := yamldoc.Undecodable(source); i >= 0 {
		before := source[:i]
		line := bytes.Count(before, []byte("\n")) + 1
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
		r.add(line, column, "the file is not UTF-8, or holds a control character")
		return nil
	}
	root, err := yamldoc.Parse(source)
	if err != nil {
		message, line, column := yamldoc.Fault(source, err)
		r.add(line, column, "the file is not YAML that can be read: %s", strings.TrimPrefix(quoted(message), "yaml: "))
	}
	if root != nil && root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null" && root.Style == 0 && root.Anchor == "" {
		return nil // a file of comments
	}
	return root
}

func (r *reader) add(line, column int, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, Fault{Origin{r.kind, r.file, line, column}, fmt.Sprintf(format, args...)})
	}
}

// refuse notes what is wrong with the value at a key's path.
func (r *reader) refuse(at string, n *yaml.Node, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if at != "" {
		message = at + ": " + message
	}
	r.add(n.Line, n.Column, "%s", message)
}

// took notes where a value stands.
func (r *reader) took(at string, n *yaml.Node) {
	r.origins[at] = Origin{r.kind, r.file, n.Line, n.Column}
}

// plain refuses what has no place in a configuration.
func (r *reader) plain(at string, n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.refuse(at, n, "anchors and aliases are not read; write the value out")
	case n.Style&yaml.TaggedStyle != 0 || n.Tag == "!":
		r.refuse(at, n, "tags such as !!str are not read; quote a text instead")
	default:
		return true
	}
	return false
}

// scalar returns a scalar of one of the kinds that tags name.
func (r *reader) scalar(at string, n *yaml.Node, means string, tags ...string) (string, bool) {
	if !r.plain(at, n) {
		return "", false
	}
	if n.Kind == yaml.ScalarNode {
		tag := n.ShortTag()
		for _, allowed := range tags {
			if tag == tagText && allowed == tagText && ambiguous(n) {
				r.refuse(at, n, "%s is a text to some readers of YAML and not to others; write it in quotes", quoted(n.Value))
				return "", false
			}
			if tag == allowed {
				return n.Value, true
			}
		}
	}
	hint := ""
	if n.Kind == yaml.ScalarNode && tags[0] == tagText && n.Value != "" {
		hint = "; write it in quotes if it is a text"
	}
	r.refuse(at, n, "is %s; allowed is %s%s", kindOf(n), plainText(means), hint)
	return "", false
}

// ambiguous reports whether readers of YAML disagree on whether a scalar is a
// text.
func ambiguous(n *yaml.Node) bool { return n.Style == 0 && yamldoc.IsNumberLike(n.Value) }

// kindOf says what stands in a file.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping of keys to values"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case tagInteger, tagFloat:
		return "a number"
	case tagBoolean:
		return "true or false"
	case tagText:
		return "the text " + quoted(n.Value)
	}
	return "no text, number, true or false"
}

// mapping calls each with the keys of a mapping, which are texts and differ.
func (r *reader) mapping(at string, n *yaml.Node, each func(name string, key, value *yaml.Node)) {
	if !r.plain(at, n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.refuse(at, n, "is %s, not a mapping of keys to values", kindOf(n))
		return
	}
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !r.plain(at, key) {
			continue
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() != tagText || ambiguous(key) {
			r.refuse(at, key, "a key is %s, not a text; write it in quotes if it is one", kindOf(key))
			continue
		}
		if line, twice := seen[key.Value]; twice {
			r.refuse(join(at, shownKey(key.Value)), key, "stands there twice, first on line %d", line)
			continue
		}
		seen[key.Value] = key.Line
		each(key.Value, key, value)
	}
}

// mayHold reports whether this file may set a key.
func (r *reader) mayHold(f field, at string, key *yaml.Node) bool {
	if r.kind != FromProject || f.narrows != "" {
		return true
	}
	if _, isGroup := f.value.(group); isGroup {
		return true // its keys are looked at
	}
	r.refuse(at, key, "only the user's own configuration can set it; a project's file can only narrow")
	return false
}

// known says which keys there are, the nearest one first.
func (r *reader) known(g group, name string) string {
	names := g.names()
	if near := nearest(name, names); near != "" {
		return " " + quoted(name) + near
	}
	return " " + quoted(name) + "; there are " + strings.Join(names, ", ")
}

// shownKey shows a key that others chose in a path.
func shownKey(name string) string {
	if regexp.MustCompile(`^[\p{L}\p{N}_-]{1,64}$`).MatchString(name) {
		return name
	}
	return quoted(name)
}

// plainText takes the marks of Markdown out.
func plainText(markdown string) string { return strings.ReplaceAll(markdown, "`", "") }
