package shares

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Content is what the URI of a change set names: a diff, or a file in a
// directory, which the reader closes.
type Content struct {
	Diff string
	Dir  *contained.Dir // nil for a diff
	File string
}

// OpenURI opens what a URI names, in the state that its id names.
func (a *Access) OpenURI(ctx context.Context, uri string) (Content, error) {
	id, file, err := parseURI(uri)
	if err != nil {
		return Content{}, err
	}
	set, err := a.Open(ctx, id)
	if err != nil {
		return Content{}, err
	}
	defer set.Close()
	held, err := set.Held(ctx)
	if err != nil {
		return Content{}, err
	}
	if held.ID != id {
		return Content{}, &changes.StaleError{Held: held}
	}
	if file == "" {
		diff, err := set.Diff(ctx, nil, 0)
		return Content{Diff: diff.Text}, err
	}
	if !slices.ContainsFunc(held.Files, func(c changes.Change) bool { return c.Path == file && c.Kind != changes.Deleted }) {
		return Content{}, failure.New(failure.FileNotFound, "Read "+uriOf(id, "")+" to see what is held.", "the change set holds no new content of that path")
	}
	dir, err := contained.Open(filepath.Join(set.set.Dir(), sandbox.UpperDir), contained.Options{Untrusted: true})
	return Content{Dir: dir, File: file}, err
}
