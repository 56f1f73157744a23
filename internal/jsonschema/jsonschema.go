// Package jsonschema holds JSON values to JSON Schemas, and names what is wrong
// with them in few words.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// maxFaults is how many faults of one value are named.
const maxFaults = 5

// Schema is a schema that is valid. It may be used by several goroutines.
type Schema struct{ compiled *jsonschema.Schema }

// Compile compiles a schema. Its references may lead nowhere but into itself.
func Compile(raw []byte) (*Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := compiler.AddResource("mem:///schema.json", document); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	compiled, err := compiler.Compile("mem:///schema.json")
	if invalid := (*jsonschema.ValidationError)(nil); errors.As(err, &invalid) {
		err = errors.New(strings.Join(faults(invalid), "; "))
	}
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	return &Schema{compiled}, nil
}

// Faults returns what is wrong with a value, one line each and at most five.
func (s *Schema) Faults(raw json.RawMessage) []string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []string{"the arguments are not JSON"}
	}
	err = s.compiled.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []string{"the arguments do not fit the schema"}
	}
	return faults(invalid)
}

func faults(err *jsonschema.ValidationError) []string {
	var faults []string
	collectFaults(err, message.NewPrinter(language.English), &faults)
	return faults
}

// collectFaults walks to the leaves, which alone say what is wrong.
func collectFaults(err *jsonschema.ValidationError, printer *message.Printer, faults *[]string) {
	if len(*faults) == maxFaults {
		return
	}
	if len(err.Causes) == 0 {
		where := "the arguments"
		if len(err.InstanceLocation) > 0 {
			where = "`" + truncate.After(strings.Join(err.InstanceLocation, "."), 80) + "`"
		}
		*faults = append(*faults, where+": "+truncate.After(err.ErrorKind.LocalizedString(printer), 200))
		return
	}
	for _, cause := range err.Causes {
		collectFaults(cause, printer, faults)
	}
}
