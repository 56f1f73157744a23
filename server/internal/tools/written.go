package tools

import (
	"encoding/json"
	"path"
	"path/filepath"
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
    "file": ` + workspace.FileSchema + `,
    "workspace": {"type": "string", "description": "Handle of the workspace; give it to the next call to go on with its files and with what is held."},
    ` + shares.ReportSchema + `
  },
  "required": ["text", "file", "workspace"]
}`)

// written holds all that a model needs, since hosts that see structured content
// show it nothing else.
type written struct {
	Text      string         `json:"text"`
	File      workspace.File `json:"file"`
	Workspace string         `json:"workspace"`
	shares.Report
}

// answer says what was written, whether it is held, and how to go on.
func (t target) answer(ws workspaces.Workspace, text string, data []byte, report shares.Report) *mcp.CallToolResult {
	done := written{File: t.written(ws, data), Workspace: ws.Handle, Report: report}
	var all strings.Builder
	all.WriteString(text)
	report.WriteText(&all)
	all.WriteString("workspace " + ws.Handle + "\n")
	done.Text = all.String()
	result := &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(done.Text)}}
	if t.users == nil {
		result.Content = append(result.Content, mcp.NewResourceLink(done.File.ID, done.File.Filename, "Written by this call", done.File.MIMEType))
	}
	result.StructuredContent = done
	return result
}

// written is the file, which has these bytes now.
func (t target) written(ws workspaces.Workspace, data []byte) workspace.File {
	file := workspace.NewFile(ws.Handle, t.file, int64(len(data)), workspace.Digest(data))
	if t.users == nil {
		return file
	}
	file.Filename = strings.ToValidUTF8(t.shown(), "\uFFFD")
	file.ID, file.MIMEType = strings.ToValidUTF8(path.Join(filepath.ToSlash(t.users.Path), t.users.Inside), "\uFFFD"), contained.TypeByName(t.users.Inside)
	file.Source = workspace.FromShare
	if t.users.Project {
		file.Source = workspace.FromProject
	}
	return file
}
