package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// maxFileTextBytes is how long a text may be that a call brings, in bytes.
const maxFileTextBytes = 4 << 20

type createArguments struct {
	Path        string `json:"path"`
	FileText    string `json:"file_text"`
	Description string `json:"description"`
	Workspace   string `json:"workspace"`
	Name        string `json:"name"`
}

func (s *Server) createFileTool() tool {
	definition := mcp.NewTool("create_file",
		mcp.WithDescription("Create a file in the workspace with the given text, and the directories that lead to it. A file that is there is replaced."),
		writtenPathArgument,
		mcp.WithString("file_text", mcp.Required(),
			mcp.Description("The whole text of the file.")),
		whyArgument,
		workspaceArgument,
		skillArgument,
		mcp.WithSchemaAdditionalProperties(false),
		annotations("Create a file in the workspace", false, true, true, false),
		alwaysLoad(nil),
	)
	return tool{definition: definition, handle: s.createFile}
}

var writtenPathArgument = mcp.WithString("path", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(8192),
	mcp.Description("Path of the file: relative to the workspace, as programs see it (/workspace/…), or a workspace:// URI."))

func (s *Server) createFile(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	arguments, err := decode[createArguments](raw)
	if err != nil {
		return nil, err
	}
	if len(arguments.FileText) > maxFileTextBytes {
		return nil, failure.New(failure.TooLarge, "Make the file in parts, or with a program.",
			"file_text has %d bytes, over the limit of %d", len(arguments.FileText), maxFileTextBytes)
	}
	path, err := s.writtenPath(ctx, arguments.Path, arguments.Workspace, arguments.Name)
	if err != nil {
		return nil, err
	}
	workspace, err := s.workspaces.Get(ctx, path.handle)
	if err != nil {
		return nil, err
	}
	var created bool
	err = s.write(workspace, len(arguments.FileText), func(tree *contained.Dir) (err error) {
		created, err = tree.Write(path.file, []byte(arguments.FileText))
		return err
	})
	if err != nil {
		return nil, err
	}
	verb := "Replaced"
	if created {
		verb = "Created"
	}
	s.log.Info("file written", "tool", "create_file", "skill", arguments.Name, "bytes", len(arguments.FileText), "why", truncate.After(display.Line(arguments.Description), 200))
	lines := len(splitLines(arguments.FileText))
	text := fmt.Sprintf("%s %s (%d %s, %s).\n", verb, display.Path(path.file), lines, plural("line", lines), display.Size(int64(len(arguments.FileText))))
	return writtenAnswer(workspace, path.file, text), nil
}

func plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// writtenPath reads the path of a file to be written, and asks the policy.
func (s *Server) writtenPath(ctx context.Context, path, handle, name string) (workspacePath, error) {
	skill, err := s.named(ctx, name)
	if err != nil {
		return workspacePath{}, err
	}
	written, err := s.workspacePath(path, handle)
	if err != nil {
		return workspacePath{}, err
	}
	if err := written.writable(); err != nil {
		return workspacePath{}, err
	}
	return written, s.skills.Permit(skill, policy.Request{Op: policy.OpWrite, Path: written.file})
}

// write writes to a workspace what adds so many bytes to it, one call at a
// time, and tells subscribers.
func (s *Server) write(workspace workspaces.Workspace, adds int, do func(*contained.Dir) error) error {
	defer workspace.Acquire()()
	s.edits.Lock()
	defer s.edits.Unlock()
	tree, err := contained.Open(workspace.Dir, contained.Options{Untrusted: true})
	if err != nil {
		return err
	}
	defer tree.Close()
	if err := roomFor(workspace, adds); err != nil {
		return err
	}
	defer s.updates.WorkspaceChanged(workspace)
	return do(tree)
}

// roomFor holds writes to the quota that programs have.
func roomFor(workspace workspaces.Workspace, adds int) error {
	if adds < 0 {
		return nil
	}
	most := workspaces.Usage{Bytes: sandbox.DefaultWorkspaceBytes - int64(adds), Files: sandbox.DefaultWorkspaceFiles - 1}
	used := workspace.Usage(most)
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

// writtenAnswer tells what was written, and by which handle and URI to go on.
func writtenAnswer(ws workspaces.Workspace, file, text string) *mcp.CallToolResult {
	link := mcp.NewResourceLink(workspace.URI(ws.Handle, file), strings.ToValidUTF8(file, "\uFFFD"), "Written by this call", contained.TypeByName(file))
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(text + "workspace " + ws.Handle + "\n"), link}}
}
