package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// viewDepth is how many levels of a directory view lists.
const viewDepth = 2

type viewArguments struct {
	Path      string `json:"path"`
	ViewRange []int  `json:"view_range"`
	Workspace string `json:"workspace"`
	Name      string `json:"name"`
}

func view(files *workspaceFiles) Tool {
	definition := define("view", reads, "View a file or directory",
		"View a file of the workspace with line numbers, an image, or a directory (two levels). Long files come in parts. With `name` it views files of that skill too.",
		150_000,
		mcp.WithString("path", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(8192),
			mcp.Description("Path of a file or directory: relative to the workspace, as programs see it (/workspace/…, and with `name` /skill/…), or a workspace:// URI. \".\" is the workspace.")),
		mcp.WithArray("view_range", mcp.MinItems(2), mcp.MaxItems(2), mcp.WithIntegerItems(mcp.Min(-1)),
			mcp.Description("[start_line, end_line] of a text file, from 1; -1 as end_line reads to the end.")),
		workspaceArgument,
		forSkillArgument,
	)
	return newTool(definition, files.view)
}

func (f *workspaceFiles) view(ctx context.Context, arguments viewArguments) (*mcp.CallToolResult, error) {
	lines, err := newLineRange(arguments.ViewRange)
	if err != nil {
		return nil, err
	}
	skill, err := f.named(ctx, arguments.Name)
	if err != nil {
		return nil, err
	}
	path, err := f.path(arguments.Path, arguments.Workspace)
	if err != nil {
		return nil, err
	}
	if !path.inSkill {
		if err := f.skills.Permit(ctx, skill, policy.Request{Op: policy.OpRead, Path: path.file}); err != nil {
			return nil, err
		}
		return f.viewWorkspace(ctx, path, lines)
	}
	if skill == nil {
		return nil, failure.New(failure.InvalidArguments, "Give the skill's `name` too.", "the path lies in a skill, and no skill is named")
	}
	if err := f.skills.PermitRead(ctx, skill, path.file); err != nil {
		return nil, err
	}
	dir, err := skills.Open(skill)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return viewPath(dir, path.file, resources.URI(skill, path.file), lines)
}

func (f *workspaceFiles) viewWorkspace(ctx context.Context, path workspacePath, lines lineRange) (*mcp.CallToolResult, error) {
	if path.handle == "" && request.SessionID(ctx) == "" && path.file == "." {
		return mcp.NewToolResultText("Directory .:\n(empty: there is no workspace yet; create_file, bash_tool and exec make one and give its handle)\n"), nil
	}
	ws, err := f.workspaces.GetUsed(ctx, path.handle)
	if err != nil {
		return nil, err
	}
	defer ws.Acquire()()
	dir, file, err := workspace.Open(ws, path.file)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return viewPath(dir, file, workspace.URI(ws.Handle, path.file), lines)
}

// viewPath views a file or lists a directory.
func viewPath(dir *contained.Dir, file, uri string, lines lineRange) (*mcp.CallToolResult, error) {
	opened, err := dir.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if opened.IsDir() {
		if lines.given {
			return nil, failure.New(failure.InvalidArguments, "Leave `view_range` out.", "%s is a directory, which has no lines", display.Path(file))
		}
		return listLevels(opened, file, viewDepth)
	}
	content, err := opened.Read(contained.Range{Limit: contained.MaxReadBytes})
	if err != nil {
		return nil, err
	}
	switch {
	case content.Text:
		return viewLines(content, lines)
	case lines.given:
		return nil, failure.New(failure.InvalidArguments, "Leave `view_range` out.", "%s is no text, so it has no lines (%s)", display.Path(file), content.MIME)
	case contained.IsImage(content.MIME):
		return imageResult(opened)
	}
	link := mcp.NewResourceLink(uri, strings.ToValidUTF8(file, "\uFFFD"), display.Size(content.Size), content.MIME)
	notice := fmt.Sprintf("%s is binary (%s, %s), so it has no lines to show. Look into it with a program, or read the resource that is linked.",
		display.Path(file), content.MIME, display.Size(content.Size))
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(notice), link}}, nil
}
