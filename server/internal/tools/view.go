package tools

import (
	"context"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
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
		"View a file of the user's project or of the workspace with line numbers, an image, or a directory (two levels), as programs see them: with the changes that are held. Long files come in parts. With `name` it views files of that skill too.",
		150_000,
		mcp.WithString("path", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(8192),
			mcp.Description("Path of a file or directory: relative to the user's project, or where there is none to the workspace; as programs see it (an absolute path of the user's, /workspace/…, and with `name` /skill/…); or a workspace:// URI. \".\" is the project, /workspace the workspace.")),
		mcp.WithArray("view_range", mcp.MinItems(2), mcp.MaxItems(2), mcp.WithIntegerItems(mcp.Min(-1)),
			mcp.Description("[start_line, end_line] of a text file, from 1; -1 as end_line reads to the end.")),
		workspaceArgument,
		forSkillArgument,
	)
	return newTool(definition, files.view).shownOn(cards.Read)
}

func (f *workspaceFiles) view(ctx context.Context, arguments viewArguments) (*mcp.CallToolResult, error) {
	lines, err := newLineRange(arguments.ViewRange)
	if err != nil {
		return nil, err
	}
	if name, file, ok := f.inLibrary(arguments.Path); ok && arguments.Name == "" {
		arguments.Name, arguments.Path = name, "/skill/"+file
	}
	skill, err := f.named(ctx, arguments.Name)
	if err != nil {
		return nil, err
	}
	path, err := f.path(ctx, arguments.Path, arguments.Workspace)
	if err != nil {
		return nil, err
	}
	if !path.inSkill {
		if err := f.skills.Permit(ctx, skill, path.request(policy.OpRead)); err != nil {
			return nil, err
		}
		if path.users != nil {
			return f.viewUsers(ctx, skill, path, lines)
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
	return f.viewPath(dir, path.file, resources.URI(skill, path.file), lines)
}

func (f *workspaceFiles) viewWorkspace(ctx context.Context, path filePath, lines lineRange) (*mcp.CallToolResult, error) {
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
	return f.viewPath(dir, file, workspace.URI(ws.Handle, path.file), lines)
}

// viewPath views a file or lists a directory.
func (f *workspaceFiles) viewPath(dir *contained.Dir, file, uri string, lines lineRange) (*mcp.CallToolResult, error) {
	opened, err := dir.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if opened.IsDir() {
		if lines.given {
			return nil, noLines(file, "is a directory, which has no lines")
		}
		return listLevels(opened, file, viewDepth)
	}
	return f.viewFile(opened, uri, lines)
}

// viewUsers views what programs of the workspace see of a file of the user's.
func (f *workspaceFiles) viewUsers(ctx context.Context, skill *catalog.Skill, path filePath, lines lineRange) (*mcp.CallToolResult, error) {
	handle := ""
	if path.handle != "" || request.SessionID(ctx) != "" {
		ws, err := f.workspaces.Get(ctx, path.handle)
		if err != nil {
			return nil, err
		}
		defer ws.Acquire()()
		handle = ws.Handle
	}
	opened, err := f.shares.OpenPlace(ctx, *path.users, handle, f.permitLanding(ctx, skill, path, policy.OpRead))
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if opened.File == nil {
		return listUsers(opened, *path.users, lines)
	}
	file, err := contained.NewFile(opened.File, path.shown())
	if err != nil {
		return nil, err
	}
	return f.viewFile(file, "", lines)
}

// listUsers lists a directory of the user's.
func listUsers(opened *shares.Opened, at shares.Place, lines lineRange) (*mcp.CallToolResult, error) {
	if lines.given {
		return nil, noLines(at.Shown(), "is a directory, which has no lines")
	}
	found, more, err := opened.List(viewDepth, contained.MaxEntries)
	if err != nil {
		return nil, err
	}
	entries := make([]contained.Entry, len(found))
	for i, entry := range found {
		at.Inside = entry.Path
		entries[i] = contained.NewEntry(at.Shown(), entry.Dir, entry.Size)
	}
	at.Inside = opened.Path
	return listing(at.Shown(), entries, more), nil
}

func noLines(path, why string) error {
	return failure.New(failure.InvalidArguments, "Leave `view_range` out.", "%s %s", display.Path(path), why)
}

// viewFile views a file. uri is that of the resource that it is, if it is one.
func (f *workspaceFiles) viewFile(opened *contained.File, uri string, lines lineRange) (*mcp.CallToolResult, error) {
	content, err := opened.Read(contained.Range{Limit: contained.MaxReadBytes})
	if err != nil {
		return nil, err
	}
	switch {
	case content.Text:
		// Before lines are cut and numbered, in which values would be lost.
		if content.Data, err = withoutSecrets(f.runner.Redact, opened, content); err != nil {
			return nil, err
		}
		return viewLines(content, lines)
	case lines.given:
		return nil, noLines(content.Path, "is no text, so it has no lines ("+content.MIME+")")
	case contained.IsImage(content.MIME):
		return imageResult(opened)
	}
	notice := fmt.Sprintf("%s is binary (%s, %s), so it has no lines to show. Look into it with a program",
		display.Path(content.Path), content.MIME, display.Size(content.Size))
	if uri == "" {
		return mcp.NewToolResultText(notice + "."), nil
	}
	link := mcp.NewResourceLink(uri, strings.ToValidUTF8(content.Path, "\uFFFD"), display.Size(content.Size), content.MIME)
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(notice + ", or read the resource that is linked."), link}}, nil
}
