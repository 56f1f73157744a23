// Package tools has the tools that models call. A tool is a value: what clients
// see of it, and what answers a call, made of the rooms that it needs.
//
// Arguments come from models. They are validated by the tool's schema before it
// sees them, and are trusted with nothing else.
package tools

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/activation"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/execution"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Tool is one MCP tool.
type Tool struct {
	definition mcp.Tool
	skill      string     // whose tool it is, if it is one's
	card       cards.Card // on which its results are shown, if on one
	handle     func(ctx context.Context, arguments json.RawMessage) (*mcp.CallToolResult, error)
}

// Rooms are what tools work with.
type Rooms struct {
	Skills     skills.Access
	Workspaces *workspace.Access
	Activation activation.Writer
	Runner     *execution.Runner
	Shares     *shares.Access
	Door       *consent.Door
}

// Basic returns the tools that are always there.
func Basic(rooms Rooms) []Tool {
	return []Tool{
		activate(rooms.Activation),
		readResource(reader{rooms.Skills, rooms.Workspaces, rooms.Shares, rooms.Runner.Sandbox, rooms.Runner.Redact}),
		exec(rooms.Runner),
		findSkills(rooms.Skills),
		applyChanges(applier{rooms.Shares, rooms.Door}),
	}
}

// Toolset names tools that are there only where the operator wants them.
type Toolset string

// ToolsetWorkspace has view, create_file, str_replace and bash_tool, by which
// a model works on the user's files and those of a workspace itself.
const ToolsetWorkspace Toolset = "workspace"

// ParseToolset returns the toolset of a name.
func ParseToolset(name string) (Toolset, error) {
	if name != string(ToolsetWorkspace) {
		return "", fmt.Errorf("%q is none of %s", name, ToolsetWorkspace)
	}
	return ToolsetWorkspace, nil
}

// Tools returns the tools of a set, which need workspaces.
func (t Toolset) Tools(rooms Rooms) []Tool {
	files := &workspaceFiles{skills: rooms.Skills, workspaces: rooms.Workspaces, shares: rooms.Shares, runner: rooms.Runner}
	return []Tool{view(files), createFile(files), strReplace(files), bash(rooms.Runner)}
}

// kind is what a tool may do. No tool reaches what is open to all.
type kind int

const (
	reads  kind = iota // and changes nothing
	writes             // twice is the same as once
	runs
)

// define makes what clients see of a tool, with every hint set, since the
// library's defaults claim the worst. A host may take answers of as many
// characters as it says, or as many as the host likes if zero.
func define(name string, kind kind, title, description string, answerChars int, arguments ...mcp.ToolOption) mcp.Tool {
	readOnly, destructive, idempotent, openWorld := kind == reads, kind != reads, kind != runs, false
	tool := mcp.NewTool(name, append(arguments,
		mcp.WithDescription(description),
		mcp.WithSchemaAdditionalProperties(false),
		mcp.WithToolAnnotation(mcp.ToolAnnotation{
			Title: title, ReadOnlyHint: &readOnly, DestructiveHint: &destructive, IdempotentHint: &idempotent, OpenWorldHint: &openWorld,
		}))...)
	// Claude Code loads the description at once then, not behind its tool search.
	tool.Meta = &mcp.Meta{AdditionalFields: map[string]any{"anthropic/alwaysLoad": true}}
	if answerChars > 0 {
		tool.Meta.AdditionalFields["anthropic/maxResultSizeChars"] = answerChars
	}
	return tool
}

// newTool returns a tool whose handler takes its arguments decoded.
func newTool[A any](definition mcp.Tool, handle func(context.Context, A) (*mcp.CallToolResult, error)) Tool {
	return Tool{definition: definition, handle: func(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
		var arguments A
		if err := json.Unmarshal(raw, &arguments); err != nil {
			return nil, failure.New(failure.InvalidArguments, "Send the arguments as the tool's input schema says.", "the arguments cannot be read")
		}
		return handle(ctx, arguments)
	}}
}

// shownOn returns the tool with the card on which hosts show its results.
func (t Tool) shownOn(card cards.Card) Tool {
	t.card = card
	return t
}

// Arguments that several tools have.
var (
	skillNameArgument = mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(256),
		mcp.Description("The skill's name."))
	workspaceArgument = mcp.WithString("workspace", mcp.MinLength(1), mcp.MaxLength(128),
		mcp.Description("Handle of a workspace from an earlier result, to go on with its files."))
	forSkillArgument = mcp.WithString("name", mcp.MinLength(1), mcp.MaxLength(256),
		mcp.Description("Name of the skill that this is done for: what its allowed-tools do not list is refused."))
	whyArgument = mcp.WithString("description", mcp.MaxLength(10_000),
		mcp.Description("Why this is done."))
	writtenPathArgument = mcp.WithString("path", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(8192),
		mcp.Description("Path of the file: relative to the user's project, or where there is none to the workspace; as programs see it (an absolute path of the user's, or /workspace/…); or a workspace:// URI."))
)
