package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/execution"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/recorder"
	"github.com/skills-mcp/skills-mcp/server/internal/schema"
)

// Registry has the tools of a server. They stay as they were at its start: hosts
// cache their text and some never look again.
type Registry struct {
	tools    []Tool
	schemas  schema.Set
	door     *consent.Door
	recorder recorder.Recorder
	log      *slog.Logger
}

// NewRegistry compiles the schemas of tools, each of another name. What they
// ask their users goes through the door, and their calls are recorded.
func NewRegistry(tools []Tool, door *consent.Door, recorder recorder.Recorder, log *slog.Logger) (*Registry, error) {
	r := &Registry{tools: tools, door: door, recorder: recorder, log: log}
	for _, t := range tools {
		if err := r.schemas.Add(t.definition); err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.definition.Name, err)
		}
	}
	return r, nil
}

// Definitions returns what clients see of the tools, in the order of their use.
func (r *Registry) Definitions() []mcp.Tool {
	definitions := make([]mcp.Tool, len(r.tools))
	for i, t := range r.tools {
		definitions[i] = t.definition
	}
	return definitions
}

// Register makes the tools known to the library.
func (r *Registry) Register(library *mcpserver.MCPServer) {
	for _, t := range r.tools {
		library.AddTool(t.definition, func(ctx context.Context, request mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return r.call(execution.WithProgress(ctx, library, request), t, request), nil
		})
	}
}

// Hook has hosts that show cards know on which they show a tool's results.
func (r *Registry) Hook(hooks *mcpserver.Hooks) {
	hooks.AddAfterListTools(func(ctx context.Context, _ any, _ *mcp.ListToolsRequest, result *mcp.ListToolsResult) {
		if !cards.Wanted(ctx) {
			return
		}
		for i := range result.Tools {
			listed := &result.Tools[i]
			known := slices.IndexFunc(r.tools, func(t Tool) bool { return t.definition.Name == listed.Name })
			if known >= 0 && r.tools[known].card != "" {
				r.tools[known].card.Mark(listed)
			}
		}
	})
}

// call calls a tool: recording around it, error mapping after.
func (r *Registry) call(ctx context.Context, t Tool, request mcp.CallToolRequest) *mcp.CallToolResult {
	name := t.definition.Name
	asked := recorder.Request{
		Event: audit.Call, Method: string(mcp.MethodToolsCall), Tool: name, Skill: t.skill, Input: rawArguments(request),
		Effects: !*t.definition.Annotations.ReadOnlyHint,
	}
	result, err := recorder.Record(ctx, r.recorder, asked, func(ctx context.Context) (*mcp.CallToolResult, error) {
		return r.answer(ctx, t, request)
	})
	if err != nil {
		f := failure.Of(err)
		f.Log(r.log, name)
		return f.ToolResult()
	}
	return result
}

// answer answers a call: validation before, questions to the user.
func (r *Registry) answer(ctx context.Context, t Tool, request mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
	name := t.definition.Name
	defer func() {
		if cause := recover(); cause != nil {
			r.log.Error("tool panicked", "tool", name, "panic", cause, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	arguments, err := r.schemas.Check(name, request)
	if err != nil {
		return nil, err
	}
	call := consent.Call{Tool: name, Arguments: arguments, State: request.Params.RequestState, Responses: request.Params.InputResponses}
	result, err = r.door.Serve(ctx, call, func(ctx context.Context) (*mcp.CallToolResult, error) { return t.handle(ctx, arguments) })
	if declined, ok := errors.AsType[*consent.Declined](err); ok {
		return declined.ToolResult(), nil
	}
	return result, err
}

// rawArguments returns the arguments of a call as they came, as far as that is
// known.
func rawArguments(request mcp.CallToolRequest) json.RawMessage {
	if len(request.Params.RawArguments) > 0 || request.Params.Arguments == nil {
		return request.Params.RawArguments
	}
	encoded, _ := json.Marshal(request.Params.Arguments) // of what was JSON
	return encoded
}

// Call calls a tool in-process. arguments is a JSON object.
func (r *Registry) Call(ctx context.Context, name string, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	for _, t := range r.tools {
		if t.definition.Name == name {
			return r.call(ctx, t, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, RawArguments: arguments}}), nil
		}
	}
	return nil, fmt.Errorf("there is no tool %q", name)
}
