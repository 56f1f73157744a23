package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Called is a tool's answer as a model would see it.
type Called struct {
	// Text is the answer's text content, blocks apart by a blank line; other
	// content is named, not shown.
	Text string
	// Structured is the structured content as JSON, or nil. Hosts that use
	// it show the model nothing else.
	Structured json.RawMessage
	IsError    bool
}

// Call calls a tool in-process, as a client's request does. arguments is a JSON
// object. An error means that there is no such tool.
func (s *Server) Call(ctx context.Context, tool string, arguments json.RawMessage) (Called, error) {
	result, err := s.tools.Call(request.WithSender(ctx, "cli"), tool, arguments)
	if err != nil {
		return Called{}, err
	}
	encoded, err := json.Marshal(result)
	if err != nil {
		return Called{}, err
	}
	var answer struct {
		Content []struct {
			Type, Text, URI, MIMEType string
		}
		StructuredContent json.RawMessage
		IsError           bool
	}
	if err := json.Unmarshal(s.opts.Redact.JSON(encoded), &answer); err != nil {
		return Called{}, err
	}
	called := Called{Structured: answer.StructuredContent, IsError: answer.IsError}
	for i, block := range answer.Content {
		if i > 0 {
			called.Text += "\n"
		}
		if block.Type == "text" {
			called.Text += block.Text
			continue
		}
		if strings.HasPrefix(block.URI, workspace.Scheme) {
			continue // the text names the file, and the workspace ends with the call
		}
		called.Text += fmt.Sprintf("[%s %s %s]", block.Type, block.MIMEType, block.URI)
	}
	return called, nil
}

// Activation returns what a model reads when it activates a skill, for who has the
// skill's files: nobody is asked and nothing is recorded.
func (s *Server) Activation(ctx context.Context, skill *catalog.Skill) (string, error) {
	activated, err := s.publisher.Activation.Activate(request.WithSender(ctx, "cli"), skill, "")
	if err != nil {
		return "", err
	}
	return s.opts.Redact.String(activated.Text), nil
}

// Tool is what a caller in-process needs to know of a tool.
type Tool struct {
	Name string
	// Types are the JSON types of its arguments, by their names.
	Types map[string]string
}

// Tools returns the tools, in the order of their use.
func (s *Server) Tools() []Tool {
	var all []Tool
	for _, definition := range s.tools.Definitions() {
		t := Tool{definition.Name, map[string]string{}}
		for name, property := range properties(definition) {
			if schema, ok := property.(map[string]any); ok {
				t.Types[name], _ = schema["type"].(string)
			}
		}
		all = append(all, t)
	}
	return all
}

// properties returns the schemas of a tool's arguments.
func properties(definition mcp.Tool) map[string]any {
	if definition.RawInputSchema == nil {
		return definition.InputSchema.Properties
	}
	var schema struct{ Properties map[string]any }
	_ = json.Unmarshal(definition.RawInputSchema, &schema) // whose types are texts then
	return schema.Properties
}
