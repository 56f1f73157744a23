// Package schema holds tools' arguments to their JSON Schemas.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// maxArgumentFaults is how many faults one answer names.
const maxArgumentFaults = 5

// Set holds the compiled input schemas by tool name. The library's own
// validation answers without a stable code and skips a malformed schema in
// silence; this one refuses to start with it.
type Set map[string]*jsonschema.Schema

// Add adds a tool, whose schema must be valid.
func (s *Set) Add(t mcp.Tool) error {
	raw, err := json.Marshal(t.InputSchema)
	if err != nil {
		return err
	}
	compiled, err := Compile(raw)
	if err != nil {
		return err
	}
	if *s == nil {
		*s = Set{}
	}
	(*s)[t.Name] = compiled
	return nil
}

// Check returns a call's arguments where they fit the tool's schema.
func (s Set) Check(name string, request mcp.CallToolRequest) (json.RawMessage, error) {
	raw, err := rawArguments(request)
	if err != nil {
		return nil, err
	}
	if faults := Validate(s[name], raw); len(faults) > 0 {
		return nil, failure.New(failure.InvalidArguments, "Call "+name+" again with arguments that fit its input schema.",
			"%s", strings.Join(faults, "; "))
	}
	return raw, nil
}

func rawArguments(request mcp.CallToolRequest) (json.RawMessage, error) {
	if raw := bytes.TrimSpace(request.Params.RawArguments); len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		return json.RawMessage(raw), nil
	}
	if request.Params.Arguments == nil {
		return json.RawMessage("{}"), nil
	}
	return json.Marshal(request.Params.Arguments)
}

// Compile compiles a schema.
func Compile(raw []byte) (*jsonschema.Schema, error) {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	// References may lead nowhere but into the schema itself.
	compiler.UseLoader(jsonschema.SchemeURLLoader{})
	if err := compiler.AddResource("mem:///schema.json", document); err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	compiled, err := compiler.Compile("mem:///schema.json")
	if err != nil {
		return nil, fmt.Errorf("input schema: %w", err)
	}
	return compiled, nil
}

// Validate returns the faults of a JSON value, one line each.
func Validate(schema *jsonschema.Schema, raw json.RawMessage) []string {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return []string{"the arguments are not JSON"}
	}
	err = schema.Validate(value)
	var invalid *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return []string{"the arguments do not fit the schema"}
	}
	printer := message.NewPrinter(language.English)
	var faults []string
	collectFaults(invalid, printer, &faults)
	return faults
}

// collectFaults walks to the leaves, which alone say what is wrong.
func collectFaults(err *jsonschema.ValidationError, printer *message.Printer, faults *[]string) {
	if len(*faults) == maxArgumentFaults {
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
