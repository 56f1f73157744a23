package catalog

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"gopkg.in/yaml.v3"

	"github.com/skills-mcp/skills-mcp/internal/spelling"
)

// allowedTools reads allowed-tools, or allowed_tools as some authors spell
// it. What cannot be understood grants nothing, so that a skill never may do
// more than its author wrote; so does a key that was meant to be this one.
func (v *validator) allowedTools() {
	f, found := v.byKey["allowed-tools"]
	other, underscored := v.byKey["allowed_tools"]
	if underscored {
		if found {
			v.add("allowed-tools-twice", other.at, "allowed_tools was ignored, since allowed-tools is there too")
		} else {
			v.add("allowed-tools-spelling", other.at, "allowed_tools was read as allowed-tools")
			f, found = other, true
		}
	}
	for _, near := range v.fields {
		if meansAllowedTools(near.key) {
			v.add("allowed-tools-key", near.at, "the key %q grants nothing", clip(near.key))
			v.skill.AllowedTools = []string{}
		}
	}
	if found {
		told := len(v.problems)
		v.skill.AllowedTools = v.granted(f)
		if len(v.skill.AllowedTools) == 0 && len(v.problems) == told {
			v.add("allowed-tools-empty", f.at, "allowed-tools names no tool, so the skill may use none")
		}
	}
}

// granted returns what a value of allowed-tools lists. It is not nil.
func (v *validator) granted(f field) []string {
	granted := []string{}
	grant := func(n *yaml.Node) {
		if !isNull(n) && strings.Trim(n.Value, ", \t\r\n") != "" {
			granted = append(granted, n.Value)
		}
	}
	switch f.value.Kind {
	case yaml.ScalarNode:
		grant(f.value)
	case yaml.SequenceNode:
		for _, item := range f.value.Content {
			if scalar := target(item); scalar.Kind == yaml.ScalarNode {
				grant(scalar)
			} else {
				v.add("allowed-tools-type", v.at(item), "an item of allowed-tools is not a string and grants nothing")
			}
		}
	default:
		v.add("allowed-tools-type", f.at, "allowed-tools is neither a string nor a list and grants nothing")
	}
	return granted
}

// meansAllowedTools reports whether a key is neither of the two spellings, but
// so near to them that its author meant them: allowedTools, Allowed-Tools,
// allowed-tool.
func meansAllowedTools(key string) bool {
	if key == "allowed-tools" || key == "allowed_tools" {
		return false
	}
	letters := strings.Map(func(c rune) rune {
		if !unicode.IsLetter(c) {
			return -1
		}
		return unicode.ToLower(c)
	}, norm.NFKC.String(key))
	const farthest = 2 // edits
	return spelling.Distance(letters, "allowedtools") <= farthest
}
