package tools

import (
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// writtenSchema describes the structured content of an answer.
var writtenSchema = json.RawMessage(`{
  "type": "object",
  "properties": {
    "text": {"type": "string", "description": "What was done, as the answer's text says it."},
    "path": {"type": "string", "description": "The file: relative to the user's project or to the workspace, or absolute."},
    "uri": {"type": "string", "description": "Of a file of the workspace."},
    "workspace": {"type": "string", "description": "Handle of the workspace; give it to the next call to go on with its files and with what is held."},
    ` + shares.ReportSchema + `
  },
  "required": ["text", "path", "workspace"]
}`)

// written holds all that a model needs, since hosts that see structured content
// show it nothing else.
type written struct {
	Text      string `json:"text"`
	Path      string `json:"path"`
	URI       string `json:"uri,omitempty"`
	Workspace string `json:"workspace"`
	shares.Report
}

// answer says what was written, whether it is held, and how to go on.
func (t target) answer(ws workspaces.Workspace, text string, report shares.Report) *mcp.CallToolResult {
	done := written{Path: strings.ToValidUTF8(t.shown(), "\uFFFD"), Workspace: ws.Handle, Report: report}
	var all strings.Builder
	all.WriteString(text)
	report.WriteText(&all)
	all.WriteString("workspace " + ws.Handle + "\n")
	done.Text = all.String()
	result := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(done.Text)}}
	if t.users == nil {
		done.URI = workspace.URI(ws.Handle, t.file)
		result.Content = append(result.Content, mcp.NewResourceLink(done.URI, done.Path, "Written by this call", contained.TypeByName(t.file)))
	}
	result.StructuredContent = done
	return result
}
