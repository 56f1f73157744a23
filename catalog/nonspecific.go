package catalog

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// marks are the places of values that carry the tag "!", which makes a plain
// scalar a string (YAML 1.2.2, section 6.9.1). The parser drops it.
type marks map[position]bool

// nonSpecificTag is the tag "!" where a value can begin, maybe after an
// anchor.
var nonSpecificTag = regexp.MustCompile(`(?:^|[ \t\[{,])((?:&[^ \t]+[ \t]+)?!)(?:[ \t]|$)`)

// findNonSpecific finds them as text; what stands inside of a scalar is no
// place at which a node begins.
func findNonSpecific(text string) marks {
	if !strings.Contains(text, "!") {
		return nil
	}
	found := marks{}
	line := 0
	for content := range strings.SplitSeq(text, "\n") {
		line++
		counted, column := 0, 1
		for _, at := range nonSpecificTag.FindAllStringSubmatchIndex(content, -1) {
			column += utf8.RuneCountInString(content[counted:at[2]])
			counted = at[2]
			found[position{line, column}] = true
		}
	}
	return found
}

// apply gives the plain scalars in n and below it the tag that they carry.
func (m marks) apply(n *yaml.Node) {
	if n.Kind == yaml.ScalarNode && n.Style == 0 && m[position{n.Line, n.Column}] {
		n.Tag, n.Style = "!!str", yaml.TaggedStyle
	}
	for _, child := range n.Content {
		m.apply(child)
	}
}
