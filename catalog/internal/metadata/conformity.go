package metadata

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// misread are the rules whose breach the catalog forgives, while another reader
// of YAML sees another frontmatter or none.
var misread = []string{"frontmatter-blank-lines", "yaml-colon", "yaml-tag", "yaml-number"}

// Nonconformity says in what a frontmatter, in which these problems were found, is
// not what the specification wants, as the strictest of its readers take it
// (values have the type of JSON that it names, and names are ASCII), or nothing.
func Nonconformity(read json.RawMessage, problems []problem.Problem) string {
	if slices.ContainsFunc(problems, func(p problem.Problem) bool { return slices.Contains(misread, p.Rule) }) {
		return "other YAML readers see another frontmatter"
	}
	var fields map[string]any
	err := json.Unmarshal(read, &fields)
	if name, _ := fields["name"].(string); name == "" || nameFault(name) != "" || strings.ContainsFunc(name, isNotASCII) {
		return "its name is not 1 to 64 lowercase letters, digits and single hyphens"
	}
	if text, _ := fields["description"].(string); isBlank(text) || utf8.RuneCountInString(text) > maxDescriptionChars {
		return "its description is not a string of 1 to 1024 characters"
	}
	for _, key := range []string{"license", "allowed-tools"} {
		if value, given := fields[key]; given && !isText(value) {
			return "its " + key + " is not a string"
		}
	}
	if _, given := fields["__proto__"]; given {
		return "it has a field __proto__"
	}
	if err != nil { // it is JSON, and a number in it has no float64
		return "it has a number that is too large"
	}
	if value, given := fields["compatibility"]; given {
		if text, _ := value.(string); text == "" || utf8.RuneCountInString(text) > maxCompatibilityChars {
			return "its compatibility is not a string of 1 to 500 characters"
		}
	}
	if value, given := fields["metadata"]; given {
		values, isMap := value.(map[string]any)
		for _, value := range values {
			isMap = isMap && isText(value)
		}
		if !isMap {
			return "its metadata does not map strings to strings"
		}
	}
	return ""
}

func isNotASCII(c rune) bool { return c > unicode.MaxASCII }

func isText(value any) bool {
	_, is := value.(string)
	return is
}

// isBlank reports whether a text is empty to readers of any language: they
// differ in what space is.
func isBlank(text string) bool {
	return strings.TrimFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) || c == '\ufeff' }) == ""
}
