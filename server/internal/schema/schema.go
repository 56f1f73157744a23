// Package schema holds tools' arguments to their JSON Schemas.
package schema

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/internal/jsonschema"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Set holds the compiled input schemas by tool name. The library's own
// validation answers without a stable code and skips a malformed schema in
// silence; this one refuses to start with it.
type Set map[string]*jsonschema.Schema

// Add adds a tool, whose schema must be valid.
func (s *Set) Add(t mcp.Tool) error {
	raw := []byte(t.RawInputSchema)
	if raw == nil {
		var err error
		if raw, err = json.Marshal(t.InputSchema); err != nil {
			return err
		}
	}
	compiled, err := jsonschema.Compile(raw)
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
	if faults := s[name].Faults(raw); len(faults) > 0 {
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
