package publish

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/recorder"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Read serves resources/read, and records it. Its error is one for the client.
func (p *Publisher) Read(ctx context.Context, uri string) (mcp.ResourceContents, error) {
	const method = "resources/read"
	contents, err := recorder.Record(ctx, p.Recorder, asked(method, "uri", uri), func(ctx context.Context) (mcp.ResourceContents, error) {
		return p.read(ctx, uri)
	})
	if err != nil {
		f := about(uri, err)
		f.Log(p.Log, method)
		return nil, f
	}
	return contents, nil
}

// read reads a skill://, workspace:// or changes:// URI whole, the problems, or a
// card.
func (p *Publisher) read(ctx context.Context, uri string) (mcp.ResourceContents, error) {
	if card, ok := cards.Contents(uri); ok && cards.Wanted(ctx) {
		return card, nil
	}
	if strings.HasPrefix(uri, workspace.Scheme) {
		dir, file, err := p.Workspaces.OpenURI(uri)
		if err != nil {
			return nil, err
		}
		defer dir.Close()
		return wholeFile(ctx, dir, file, uri)
	}
	if strings.HasPrefix(uri, shares.Scheme) {
		return p.readChanges(ctx, uri)
	}
	if uri == skills.ProblemsURI {
		return problemsContents(p.Skills.Problems(p.Skills.Snapshot()))
	}
	if uri == compatIndexURI && p.CompatIndex {
		return compatIndexContents(p.Skills.Snapshot())
	}
	skill, file, err := p.Skills.Resolve(ctx, uri)
	if err == nil {
		err = p.Skills.PermitRead(ctx, skill, file)
	}
	if err != nil {
		return nil, err
	}
	dir, err := skills.Open(skill)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return wholeFile(ctx, dir, file, uri)
}

// readChanges reads the diff of a change set, or the new content of a file.
func (p *Publisher) readChanges(ctx context.Context, uri string) (mcp.ResourceContents, error) {
	content, err := p.Shares.OpenURI(ctx, uri)
	if err != nil {
		return nil, err
	}
	if content.Dir == nil {
		return mcp.TextResourceContents{URI: uri, MIMEType: "text/x-diff", Text: strings.ToValidUTF8(content.Diff, "\uFFFD")}, nil
	}
	defer content.Dir.Close()
	return wholeFile(ctx, content.Dir, content.File, uri)
}

// wholeFile reads a file, for which there are no pages here: up to the limit of
// the Skills extension for a whole skill (SEP-2640), which is that of any read.
func wholeFile(ctx context.Context, dir *contained.Dir, file, uri string) (mcp.ResourceContents, error) {
	opened, err := dir.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	if claimed := opened.Size(); claimed <= contained.MaxReadBytes && !opened.IsDir() {
		if err := request.Reserve(ctx, claimed); err != nil {
			return nil, err
		}
	}
	content, err := opened.ReadAll(contained.MaxReadBytes)
	if refused, ok := errors.AsType[*contained.Error](err); ok && refused.Rule == contained.TooLarge {
		return nil, &failure.Failure{Code: failure.TooLarge, Message: refused.Message, Cause: err,
			Hint: "Call the tool readResource, which reads parts of it by `offset` and `length`, or have a program look into it."}
	}
	if err == nil {
		err = request.Reserve(ctx, content.Size) // where that is more than it claimed
	}
	if err != nil {
		return nil, err
	}
	if content.Text {
		return mcp.TextResourceContents{URI: uri, MIMEType: content.MIME, Text: string(content.Data)}, nil
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: content.MIME, Blob: base64.StdEncoding.EncodeToString(content.Data)}, nil
}
