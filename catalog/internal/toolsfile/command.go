package toolsfile

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// OptionError is a value that a program could take for an option.
type OptionError struct {
	// Property is the one of the input that has it.
	Property string
}

func (e *OptionError) Error() string {
	return fmt.Sprintf("the value of %s begins with a hyphen", e.Property)
}

// placeholder is the name of a property in braces.
var placeholder = regexp.MustCompile(`\{[^{}]+\}`)

// isPlaceholder reports whether an argument is a placeholder and no more.
func isPlaceholder(arg string) bool { return arg != "" && placeholder.FindString(arg) == arg }

// properties returns the properties that an argument's placeholders name.
func properties(arg string) []string {
	found := placeholder.FindAllString(arg, -1)
	for i, text := range found {
		found[i] = text[1 : len(text)-1]
	}
	return found
}

// properties returns those that the input schema names.
func (t Tool) properties() map[string]json.RawMessage {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(t.InputSchema, &schema) // what it says of them, if anything
	return schema.Properties
}

// languages are programs whose arguments are, or may be, text that runs; runners
// run such text where an option says so, as interpreters do.
var (
	languages = []string{"awk", "gawk", "mawk", "nawk", "sed", "jq", "yq", "sqlite", "psql", "mysql", "duckdb", "ssh", "su", "watch", "script", "parallel"}
	runners   = append([]string{"env", "dash", "ksh", "fish", "pwsh", "deno", "bun"}, interpreters...)
)

// textOption is an option, or begins one, of runners after which text follows.
// Options of scripts that look alike are taken for theirs.
const textOption = `^(?:-[A-Za-z]*[cepErRS]|--(?:eval|print|command|exec)\b|eval$)`

var (
	beginsText = regexp.MustCompile(textOption)
	beforeText = regexp.MustCompile(textOption + `$`)
)

// isCode reports whether an argument may be the text of a program, as after
// sh -c, whichever program starts that one.
func (t Tool) isCode(i int) bool {
	running, next := false, false // next is set while the first that is no option is text
	for _, arg := range t.Argv[:i] {
		name := withoutVersion(path.Base(arg))
		switch {
		case slices.Contains(languages, name):
			return true
		case slices.Contains(runners, name):
			running, next = true, false
		case running && beforeText.MatchString(arg):
			next = true
		case !strings.HasPrefix(arg, "-"):
			next = false
		}
	}
	return next || running && beginsText.MatchString(t.Argv[i])
}

// Command returns Argv for an input. An element that is exactly "{key}" is that
// property as text; inside of others, as in "--rate={rate}", properties that the
// schema names are put in, but not into the text of a program. An element without
// its property goes away with the flag before it. The error is an [OptionError]
// for a value that makes an option of an element that is none, unless the schema
// allows for it: a "--" before it is no help, since not every program heeds it.
func (t Tool) Command(values map[string]json.RawMessage) ([]string, error) {
	known := t.properties()
	var argv []string
	for i, arg := range t.Argv {
		var in []string
		if isPlaceholder(arg) || !t.isCode(i) {
			in = properties(arg)
		}
		if !isPlaceholder(arg) {
			in = slices.DeleteFunc(in, func(property string) bool { return known[property] == nil })
		}
		if slices.ContainsFunc(in, func(property string) bool { return isAbsent(values[property]) }) {
			if last := len(argv) - 1; last > 0 && strings.HasPrefix(argv[last], "-") {
				argv = argv[:last]
			}
			continue
		}
		filled := placeholder.ReplaceAllStringFunc(arg, func(text string) string {
			if property := text[1 : len(text)-1]; slices.Contains(in, property) {
				return asText(values[property])
			}
			return text
		})
		if strings.HasPrefix(filled, "-") && !strings.HasPrefix(arg, "-") {
			if free := slices.IndexFunc(in, func(property string) bool { return !t.Bounds(property) }); free >= 0 {
				return nil, &OptionError{in[free]}
			}
		}
		argv = append(argv, filled)
	}
	return argv, nil
}

// isAbsent reports whether an input has no value: null is none.
func isAbsent(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// asText returns a JSON string's content, and any other value as JSON.
func asText(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}
