package metadata

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/internal/editdistance"
)

// allowedTools reads allowed-tools, or allowed_tools as some authors spell
// it. What cannot be understood grants nothing, so that a skill never may do
// more than its author wrote; so does a key that was meant to be this one.
func (v *validator) allowedTools() {
	f, found := v.byKey["allowed-tools"]
	other, underscored := v.byKey["allowed_tools"]
	if underscored {
		if found {
			v.Add("allowed-tools-twice", other.At, "allowed_tools was ignored, since allowed-tools is there too")
		} else {
			v.Add("allowed-tools-spelling", other.At, "allowed_tools was read as allowed-tools")
			f, found = other, true
		}
	}
	for _, near := range v.fields {
		if meansAllowedTools(near.Key) {
			v.Add("allowed-tools-key", near.At, "the key %q grants nothing", problem.Clip(near.Key))
			v.read.AllowedTools = []string{}
		}
	}
	if found {
		told := len(v.Problems)
		v.read.AllowedTools = v.granted(f)
		if len(v.read.AllowedTools) == 0 && len(v.Problems) == told {
			v.Add("allowed-tools-empty", f.At, "allowed-tools names no tool, so the skill may use none")
		}
	}
}

// granted returns what a value of allowed-tools lists. It is not nil.
func (v *validator) granted(f frontmatter.Field) []string {
	granted := []string{}
	items, listed := f.Value.Items()
	if !listed {
		if f.Value.IsMapping() {
			v.Add("allowed-tools-type", f.At, "allowed-tools is neither a string nor a list and grants nothing")
			return granted
		}
		items = []frontmatter.Value{f.Value}
	}
	for _, item := range items {
		text, plain := item.Scalar()
		if !plain {
			v.Add("allowed-tools-type", item.At(), "an item of allowed-tools is not a string and grants nothing")
		} else if !item.IsNull() && strings.Trim(text, ", \t\r\n") != "" {
			granted = append(granted, text)
		}
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
	return editdistance.Between(letters, "allowedtools") <= farthest
}
