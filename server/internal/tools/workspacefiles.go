package tools

import (
	"context"
	"strings"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/execution"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// workspaceFiles are what the tools of the toolset workspace work on.
type workspaceFiles struct {
	skills     skills.Access
	workspaces *workspace.Access
	runner     *execution.Runner
	// edits lets one call at a time write to workspaces, so that none undoes
	// what another did.
	edits sync.Mutex
}

// named returns the skill of a name, or nil where none is given.
func (f *workspaceFiles) named(ctx context.Context, name string) (*catalog.Skill, error) {
	if name == "" {
		return nil, nil
	}
	return f.skills.Find(ctx, name)
}

// shownWhy is a caller's reason as the log has it.
func shownWhy(description string) string { return truncate.After(display.Line(description), 200) }

// writtenPath reads the path of a file to be written, and asks the policy.
func (f *workspaceFiles) writtenPath(ctx context.Context, path, handle, name string) (workspacePath, error) {
	skill, err := f.named(ctx, name)
	if err != nil {
		return workspacePath{}, err
	}
	written, err := f.path(path, handle)
	if err == nil {
		err = written.writable()
	}
	if err != nil {
		return workspacePath{}, err
	}
	return written, f.skills.Permit(ctx, skill, policy.Request{Op: policy.OpWrite, Path: written.file})
}

// write writes to a workspace what adds so many bytes to it, one call at a
// time, and notifies subscribers.
func (f *workspaceFiles) write(ws workspaces.Workspace, adds int, do func(*contained.Dir) error) error {
	defer ws.Acquire()()
	f.edits.Lock()
	defer f.edits.Unlock()
	dir, err := contained.Open(ws.Dir, contained.Options{Untrusted: true})
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := f.roomFor(ws, adds); err != nil {
		return err
	}
	defer f.runner.Changed(ws)
	return do(dir)
}

// roomFor holds writes to the quota that programs have.
func (f *workspaceFiles) roomFor(ws workspaces.Workspace, adds int) error {
	if adds < 0 {
		return nil
	}
	limits := f.runner.Limits.Of("")
	most := workspaces.Usage{Bytes: limits.WorkspaceBytes - int64(adds), Files: limits.WorkspaceFiles - 1}
	used := ws.Usage(most)
	switch {
	case used.Bytes > most.Bytes || used.Files > most.Files:
		return failure.New(failure.WorkspaceFull, "Remove what is not needed, with a program in the same workspace.",
			"the workspace has no room: it holds at least %d files and %s", used.Files, display.Size(used.Bytes))
	case used.Missed > 0:
		return failure.New(failure.WorkspaceFull, "Remove them or make them readable, with a program in the same workspace.",
			"the workspace has no room: it holds directories that cannot be looked into, unreadable or more than 64 deep")
	}
	return nil
}

// writtenAnswer says what was written, and by which handle and URI to go on.
func writtenAnswer(ws workspaces.Workspace, file, text string) *mcp.CallToolResult {
	link := mcp.NewResourceLink(workspace.URI(ws.Handle, file), strings.ToValidUTF8(file, "\uFFFD"), "Written by this call", contained.TypeByName(file))
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text + "workspace " + ws.Handle + "\n"), link}}
}
