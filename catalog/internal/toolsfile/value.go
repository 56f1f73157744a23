package toolsfile

import (
	"encoding/json"
	"regexp/syntax"
	"slices"
)

// Bounds reports whether the input schema says of a property what its value
// may be, so that one which begins with a hyphen is the author's own choice:
// by enum or const, by a type whose text is no option, or by a pattern that
// holds for the beginning of the text. What is said elsewhere ($ref, anyOf, …)
// is not looked at.
func (t Tool) Bounds(property string) bool {
	// Maps, since the names of fields would match in any case.
	var schema, properties, value map[string]json.RawMessage
	if json.Unmarshal(t.InputSchema, &schema) != nil || json.Unmarshal(schema["properties"], &properties) != nil ||
		json.Unmarshal(properties[property], &value) != nil {
		return false
	}
	var pattern string
	return value["enum"] != nil || value["const"] != nil || noText(value["type"]) ||
		json.Unmarshal(value["pattern"], &pattern) == nil && bindsStart(pattern)
}

// noText reports whether a schema's type leaves strings out.
func noText(raw json.RawMessage) bool {
	var types []string
	if json.Unmarshal(raw, &types) != nil {
		var one string
		if json.Unmarshal(raw, &one) != nil {
			return false
		}
		types = []string{one}
	}
	return len(types) > 0 && !slices.ContainsFunc(types, func(name string) bool {
		return !slices.Contains([]string{"number", "integer", "boolean", "null", "array", "object"}, name)
	})
}

// bindsStart reports whether a pattern matches from the beginning of a text
// only: that of JSON Schema matches anywhere.
func bindsStart(pattern string) bool {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	program, err := syntax.Compile(parsed.Simplify())
	return err == nil && program.StartCond()&syntax.EmptyBeginText != 0
}
