// Package calling has what a call of a tool needs that is typed: its arguments, and
// a place for the files that it makes.
package calling

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Arguments are those of a command line: one JSON object, or by their names
// JSON and texts of which the tool's schema says what they are.
type Arguments struct {
	object json.RawMessage
	values map[string]json.RawMessage
	texts  map[string]string
}

// Parse reads key=text and key:=JSON pairs, or one JSON object.
func Parse(args []string) (Arguments, error) {
	if len(args) == 1 && strings.HasPrefix(strings.TrimSpace(args[0]), "{") {
		if !json.Valid([]byte(args[0])) {
			return Arguments{}, fmt.Errorf("the arguments are not valid JSON")
		}
		return Arguments{object: json.RawMessage(args[0])}, nil
	}
	a := Arguments{values: map[string]json.RawMessage{}, texts: map[string]string{}}
	for _, arg := range args {
		if err := a.add(arg); err != nil {
			return Arguments{}, err
		}
	}
	return a, nil
}

func (a Arguments) add(arg string) error {
	key, text, ok := strings.Cut(arg, "=")
	if !ok || key == "" || key == ":" {
		return fmt.Errorf("%q is neither key=value nor a JSON object", arg)
	}
	name, isJSON := strings.CutSuffix(key, ":")
	if isJSON && !json.Valid([]byte(text)) {
		return fmt.Errorf("%q does not hold valid JSON after :=", arg)
	}
	_, asText := a.texts[name]
	if _, asJSON := a.values[name]; asText || asJSON {
		return fmt.Errorf("argument %q is given twice", name)
	}
	if isJSON {
		a.values[name] = json.RawMessage(text)
	} else {
		a.texts[name] = text
	}
	return nil
}

// Encode returns the arguments as a JSON object, for a tool whose arguments
// have these types.
func (a Arguments) Encode(types map[string]string) (json.RawMessage, error) {
	if a.object != nil {
		return a.object, nil
	}
	for key, text := range a.texts {
		if want := types[key]; want != "" && want != "string" && json.Valid([]byte(text)) {
			a.values[key] = json.RawMessage(text)
			continue
		}
		value, err := json.Marshal(text)
		if err != nil {
			return nil, err
		}
		a.values[key] = value
	}
	return json.Marshal(a.values)
}
