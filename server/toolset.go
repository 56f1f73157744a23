package server

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// tool is one MCP tool: what clients see, and what answers a call. Arguments
// reach it validated against the schema.
type tool struct {
	definition mcp.Tool
	handle     func(ctx context.Context, arguments json.RawMessage) (*mcp.CallToolResult, error)
}

// Toolset names tools that are there only where the operator wants them.
type Toolset string

// ToolsetWorkspace has view, create_file, str_replace and bash_tool, by which
// a model works on the files of a workspace itself.
const ToolsetWorkspace Toolset = "workspace"

// ParseToolset gives the toolset of a name.
func ParseToolset(name string) (Toolset, error) {
	if name != string(ToolsetWorkspace) {
		return "", fmt.Errorf("%q is none of %s", name, ToolsetWorkspace)
	}
	return ToolsetWorkspace, nil
}

// toolset gives the tools of a set.
func (s *Server) toolset(name Toolset) ([]tool, error) {
	if _, err := ParseToolset(string(name)); err != nil {
		return nil, fmt.Errorf("server: toolset %w", err)
	}
	if s.opts.Workspaces == nil {
		return nil, fmt.Errorf("server: the toolset %s needs workspaces", name)
	}
	return []tool{s.viewTool(), s.createFileTool(), s.strReplaceTool(), s.bashTool()}, nil
}

// registerTools makes the tools known to the library. They are the same for
// every catalog: hosts cache their text and some never look again.
func (s *Server) registerTools() error {
	for _, t := range s.tools {
		if err := s.schemas.Add(t.definition); err != nil {
			return fmt.Errorf("server: tool %s: %w", t.definition.Name, err)
		}
		s.mcp.AddTool(t.definition, s.call(t))
	}
	return nil
}

// call wraps a tool's handler: validation before, error mapping after.
func (s *Server) call(t tool) func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	name := t.definition.Name
	return func(ctx context.Context, request mcp.CallToolRequest) (result *mcp.CallToolResult, _ error) {
		defer func() {
			if cause := recover(); cause != nil {
				s.log.Error("tool panicked", "tool", name, "panic", cause, "stack", string(debug.Stack()))
				result = failure.Of(fmt.Errorf("panic: %v", cause)).ToolResult()
			}
		}()
		arguments, err := s.schemas.Check(name, request)
		if err == nil {
			ctx = withProgress(ctx, s.mcp, request)
			result, err = t.handle(ctx, arguments)
		}
		if err != nil {
			f := failure.Of(err)
			f.Log(s.log, name)
			return f.ToolResult(), nil
		}
		return result, nil
	}
}

// decode reads validated arguments into a tool's argument struct.
func decode[T any](arguments json.RawMessage) (T, error) {
	var into T
	if err := json.Unmarshal(arguments, &into); err != nil {
		return into, failure.New(failure.InvalidArguments, "Send the arguments as the tool's input schema says.", "the arguments cannot be read")
	}
	return into, nil
}

// annotations sets every hint, since the library's defaults claim the worst.
func annotations(title string, readOnly, destructive, idempotent, openWorld bool) mcp.ToolOption {
	return mcp.WithToolAnnotation(mcp.ToolAnnotation{
		Title:           title,
		ReadOnlyHint:    &readOnly,
		DestructiveHint: &destructive,
		IdempotentHint:  &idempotent,
		OpenWorldHint:   &openWorld,
	})
}

// alwaysLoad asks Claude Code to load a tool's description at once rather
// than behind its tool search.
func alwaysLoad(extra map[string]any) mcp.ToolOption {
	fields := map[string]any{"anthropic/alwaysLoad": true}
	for key, value := range extra {
		fields[key] = value
	}
	return func(t *mcp.Tool) { t.Meta = &mcp.Meta{AdditionalFields: fields} }
}
