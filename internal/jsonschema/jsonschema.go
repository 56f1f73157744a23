// Package jsonschema holds JSON values to JSON Schemas, and names what is wrong
// with them in few words.
package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
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
		err = errors.New(strings.Join(lines(faults(invalid)), "; "))
	}
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	return &Schema{compiled}, nil
}

// Fault is one thing that is wrong with a value.
type Fault struct {
	// Path are the keys and indexes that lead to it.
	Path []string
	// Unknown are keys that are not known there, and Known those that are.
	Unknown, Known []string
	// Message says what is wrong in few words.
	Message string
}

// Faults returns what is wrong with a value, one line each and at most five.
func (s *Schema) Faults(raw json.RawMessage) []string {
	found, err := s.Check(raw)
	if err != nil {
		return []string{err.Error()}
	}
	return lines(found)
}

// Check returns what is wrong with a value, at most five things. An error means
// that it is no JSON.
func (s *Schema) Check(raw json.RawMessage) ([]Fault, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, errors.New("the arguments are not JSON")
	}
	err = s.compiled.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &invalid):
		return nil, errors.New("the arguments do not fit the schema")
	}
	found := faults(invalid)
	for i := range found {
		if len(found[i].Unknown) > 0 {
			found[i].Known = s.known(found[i].Path)
		}
	}
	return found, nil
}

// known returns the keys that there are in what a path leads to.
func (s *Schema) known(path []string) []string {
	at := s.compiled
	for i := 0; at != nil; i++ {
		for at.Ref != nil {
			at = at.Ref
		}
		if i == len(path) {
			return slices.Sorted(maps.Keys(at.Properties))
		}
		at = below(at, path[i])
	}
	return nil
}

// below returns the schema of a key or an index, or nil.
func below(at *jsonschema.Schema, step string) *jsonschema.Schema {
	if property, isKnown := at.Properties[step]; isKnown {
		return property
	}
	if items, isOne := at.Items.(*jsonschema.Schema); isOne {
		return items
	}
	if at.Items2020 != nil {
		return at.Items2020
	}
	other, _ := at.AdditionalProperties.(*jsonschema.Schema)
	return other
}

func faults(err *jsonschema.ValidationError) []Fault {
	var faults []Fault
	collectFaults(err, message.NewPrinter(language.English), &faults)
	return faults
}

// lines shows faults.
func lines(faults []Fault) (shown []string) {
	for _, fault := range faults {
		where := "the arguments"
		if len(fault.Path) > 0 {
			where = "`" + truncate.After(strings.Join(fault.Path, "."), 80) + "`"
		}
		shown = append(shown, where+": "+fault.Message)
	}
	return shown
}

// collectFaults walks to the leaves, which alone say what is wrong.
func collectFaults(err *jsonschema.ValidationError, printer *message.Printer, faults *[]Fault) {
	if len(*faults) == maxFaults {
		return
	}
	if len(err.Causes) == 0 {
		fault := Fault{Path: err.InstanceLocation, Message: truncate.After(err.ErrorKind.LocalizedString(printer), 200)}
		if more, isKeys := err.ErrorKind.(*kind.AdditionalProperties); isKeys {
			fault.Unknown = more.Properties
		}
		*faults = append(*faults, fault)
		return
	}
	for _, cause := range err.Causes {
		collectFaults(cause, printer, faults)
	}
}
