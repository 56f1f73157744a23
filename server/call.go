package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
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

// Call calls a tool in-process, by the same way as a client's request takes.
// arguments is a JSON object. An error means that there is no such tool or
// that the call was no valid request.
func (s *Server) Call(ctx context.Context, tool string, arguments json.RawMessage) (Called, error) {
	message, err := json.Marshal(map[string]any{
		"jsonrpc": mcp.JSONRPC_VERSION, "id": 1, "method": mcp.MethodToolsCall,
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return Called{}, fmt.Errorf("arguments: %w", err)
	}
	encoded, err := json.Marshal(s.mcp.HandleMessage(ctx, message))
	if err != nil {
		return Called{}, err
	}
	var response struct {
		Result *struct {
			Content []struct {
				Type, Text, URI, MIMEType string
			}
			StructuredContent json.RawMessage
			IsError           bool
		}
		Error *struct{ Message string }
	}
	if err := json.Unmarshal(encoded, &response); err != nil {
		return Called{}, err
	}
	if response.Result == nil {
		if response.Error != nil {
			return Called{}, fmt.Errorf("%s", response.Error.Message)
		}
		return Called{}, fmt.Errorf("no answer")
	}
	called := Called{Structured: response.Result.StructuredContent, IsError: response.Result.IsError}
	for i, block := range response.Result.Content {
		if i > 0 {
			called.Text += "\n"
		}
		if block.Type == "text" {
			called.Text += block.Text
			continue
		}
		called.Text += fmt.Sprintf("[%s %s %s]", block.Type, block.MIMEType, block.URI)
	}
	return called, nil
}

// ToolNames gives the names of the tools, in the order of their use.
func (s *Server) ToolNames() []string {
	names := make([]string, len(s.tools))
	for i, t := range s.tools {
		names[i] = t.definition.Name
	}
	return names
}
