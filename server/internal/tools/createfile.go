package tools

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
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
	definition := define("create_file", writes, "Create a file",
		"Create a file in the user's project, or in the workspace, with the given text, and the directories that lead to it. A file that is there is replaced. What is written in the project is held until applyChanges, and programs see it at once.",
		0,
		writtenPathArgument,
		mcp.WithString("file_text", mcp.Required(),
			mcp.Description("The whole text of the file.")),
		whyArgument,
		workspaceArgument,
		forSkillArgument,
		mcp.WithRawOutputSchema(writtenSchema),
	)
	return newTool(definition, files.create).shownOn(cards.Changes)
}

func (f *workspaceFiles) create(ctx context.Context, arguments createArguments) (*mcp.CallToolResult, error) {
	size := len(arguments.FileText)
	if size > maxFileTextBytes {
		return nil, failure.New(failure.TooLarge, "Make the file in parts, or with a program.",
			"file_text has %d bytes, over the limit of %d", size, maxFileTextBytes)
	}
	t, err := f.target(ctx, policy.OpWrite, arguments.Path, arguments.Workspace, arguments.Name)
	if err != nil {
		return nil, err
	}
	ws, err := f.workspaces.Get(ctx, t.handle)
	if err != nil {
		return nil, err
	}
	created, report, err := f.put(ctx, ws, t, []byte(arguments.FileText))
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
	return t.answer(ws, fmt.Sprintf("%s %s (%d %s, %s).\n", verb, display.Path(t.shown()), lines, noun, display.Size(int64(size))), []byte(arguments.FileText), report), nil
}

// put writes a file of these bytes.
func (f *workspaceFiles) put(ctx context.Context, ws workspaces.Workspace, t target, data []byte) (created bool, report shares.Report, err error) {
	if t.users != nil {
		return f.writeUsers(ctx, ws, t, 0, func([]byte) ([]byte, error) { return data, nil })
	}
	err = f.write(ws, len(data), func(dir *contained.Dir) (err error) {
		created, err = dir.Write(t.file, data)
		return err
	})
	return created, report, err
}
