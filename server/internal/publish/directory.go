package publish

import (
	"context"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// readDirectory serves resources/directory/read: the direct children of a
// directory of a skill, as far as they may be read, or of a workspace.
func (p *Publisher) readDirectory(ctx context.Context, params pageParams) (any, error) {
	after, err := decodeCursor(params.Cursor)
	if err != nil {
		return nil, err
	}
	list := p.skillChildren
	if strings.HasPrefix(params.URI, workspace.Scheme) {
		list = p.workspaceChildren
	}
	page := childPage{after: after}
	children, err := list(ctx, params.URI, &page)
	if err != nil {
		return nil, err
	}
	return struct {
		Resources  []mcp.Resource `json:"resources"`
		NextCursor mcp.Cursor     `json:"nextCursor,omitempty"`
	}{append([]mcp.Resource{}, children...), page.next}, nil
}

// childPage is a page of a directory's children: those after a path.
type childPage struct {
	after string
	next  mcp.Cursor // of the page after it, if there is one
}

// of returns the entries of the page.
func (page *childPage) of(entries []contained.Entry) []contained.Entry {
	entries = entries[sort.Search(len(entries), func(i int) bool { return entries[i].Path > page.after }):]
	if len(entries) > maxListedChildren {
		entries = entries[:maxListedChildren]
		page.next = encodeCursor(entries[maxListedChildren-1].Path)
	}
	return entries
}

// skillChildren returns the children of a directory of a skill that may be read.
func (p *Publisher) skillChildren(ctx context.Context, uri string, page *childPage) (children []mcp.Resource, err error) {
	skill, name, err := p.Skills.Resolve(ctx, uri)
	if err != nil {
		return nil, err
	}
	skills.Note(ctx, skill)
	dir, err := skills.Open(skill)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := listed(dir, name)
	if err != nil {
		return nil, err
	}
	readable := p.Skills.Readable(skill)
	entries = slices.DeleteFunc(entries, func(entry contained.Entry) bool { return !readable(entry.Path) })
	if len(entries) == 0 && name != "." {
		err = p.Skills.PermitRead(ctx, skill, name)
	}
	for _, entry := range page.of(entries) {
		if entry.Path == skill.Entry {
			children = append(children, skillResource(skill))
			continue
		}
		children = append(children, childResource(resources.URI(skill, entry.Path), entry))
	}
	return children, err
}

// workspaceChildren returns the children of a directory of a workspace, whose
// files say in _meta what results say of files that a run made.
func (p *Publisher) workspaceChildren(_ context.Context, uri string, page *childPage) (children []mcp.Resource, err error) {
	handle, named, err := workspace.ParseURI(uri)
	if err != nil {
		return nil, err
	}
	dir, name, err := p.Workspaces.OpenURI(uri)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if name != named { // a saved output
		return nil, contained.Refuse(contained.NotDirectory, named, "is a file")
	}
	entries, err := listed(dir, name)
	if err != nil {
		return nil, err
	}
	entries = page.of(entries)
	files := workspace.Files(dir, handle, entries)
	for _, entry := range entries {
		child := childResource(workspace.URI(handle, entry.Path), entry)
		if !entry.Dir {
			child.Meta, files = files[0].Meta(), files[1:]
		}
		children = append(children, child)
	}
	return children, nil
}

// listed returns the children of a directory, all of them.
func listed(dir *contained.Dir, name string) ([]contained.Entry, error) {
	entries, more, err := dir.List(name, 1)
	if err == nil && more {
		err = failure.New(failure.TooLarge, "Read files by their URIs.", "the directory has more than %d entries", contained.MaxEntries)
	}
	return entries, err
}

func childResource(uri string, entry contained.Entry) mcp.Resource {
	child := mcp.NewResource(uri, path.Base(strings.ToValidUTF8(entry.Path, "\uFFFD")), mcp.WithMIMEType(entry.MIME))
	if !entry.Dir {
		child.Size = &entry.Size
	}
	return child
}
