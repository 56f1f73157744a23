package tools

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
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

func createFile(files *workspaceFiles) Tool {
	definition := define("create_file", writes, "Create a file in the workspace",
		"Create a file in the workspace with the given text, and the directories that lead to it. A file that is there is replaced.",
		0,
		writtenPathArgument,
		mcp.WithString("file_text", mcp.Required(),
			mcp.Description("The whole text of the file.")),
		whyArgument,
		workspaceArgument,
		forSkillArgument,
	)
	return newTool(definition, files.create)
}

func (f *workspaceFiles) create(ctx context.Context, arguments createArguments) (*mcp.CallToolResult, error) {
	size := len(arguments.FileText)
	if size > maxFileTextBytes {
		return nil, failure.New(failure.TooLarge, "Make the file in parts, or with a program.",
			"file_text has %d bytes, over the limit of %d", size, maxFileTextBytes)
	}
	path, err := f.writtenPath(ctx, arguments.Path, arguments.Workspace, arguments.Name)
	if err != nil {
		return nil, err
	}
	ws, err := f.workspaces.Get(ctx, path.handle)
	if err != nil {
		return nil, err
	}
	var created bool
	err = f.write(ws, size, func(dir *contained.Dir) (err error) {
		created, err = dir.Write(path.file, []byte(arguments.FileText))
		return err
	})
	if err != nil {
		return nil, err
	}
	f.skills.Log.Info("file written", "tool", "create_file", "skill", arguments.Name, "bytes", size, "why", shownWhy(arguments.Description))
	verb, noun := "Replaced", "lines"
	if created {
		verb = "Created"
	}
	lines := len(splitLines(arguments.FileText))
	if lines == 1 {
		noun = "line"
	}
	return writtenAnswer(ws, path.file, fmt.Sprintf("%s %s (%d %s, %s).\n", verb, display.Path(path.file), lines, noun, display.Size(int64(size)))), nil
}
