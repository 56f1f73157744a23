package server

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// maxResourceBytes bounds a file in resources/read, which has no pages: the
// limit of the Skills extension for a whole skill (SEP-2640).
const maxResourceBytes = 16 << 20

// Every read is led to one resource that the library knows; readURIKey holds
// the URI that was asked for. So no URI depends on how the library's template
// expressions take percent signs and unicode.
const (
	internalResourceURI = "skills-mcp:read"
	readURIKey          = "skills-mcp/uri"
)

func (s *Server) registerResources() {
	s.mcp.AddResource(mcp.NewResource(internalResourceURI, "read"), s.readURI)
}

func (s *Server) hookReads(hooks *mcpserver.Hooks) {
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, request *mcp.ReadResourceRequest) {
		request.Params.Arguments = map[string]any{readURIKey: request.Params.URI}
		request.Params.URI = internalResourceURI
	})
	s.hookPrompts(hooks)
}

// readURI answers resources/read. A failure goes past the library to the
// router, since the library has one code for all of a handler's errors.
func (s *Server) readURI(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	uri, _ := request.Params.Arguments[readURIKey].(string)
	contents, err := s.contents(ctx, uri)
	if err != nil {
		f := failure.Of(about(uri, err))
		s.logFailure("resources/read", f)
		router.Fail(ctx, f)
		return nil, errors.New(f.Error())
	}
	return []mcp.ResourceContents{contents}, nil
}

// contents reads a skill:// or workspace:// URI whole.
func (s *Server) contents(ctx context.Context, uri string) (mcp.ResourceContents, error) {
	if strings.HasPrefix(uri, workspace.Scheme) {
		tree, file, err := s.workspaces.OpenURI(uri)
		if err != nil {
			return nil, err
		}
		defer tree.Close()
		return wholeFile(ctx, tree, file, uri)
	}
	if uri == compatIndexURI && s.opts.CompatIndex {
		return compatIndexContents(s.skills.Snapshot())
	}
	skill, file, err := s.skills.Resolve(ctx, uri)
	if err == nil {
		err = s.skills.PermitRead(skill, file)
	}
	if err != nil {
		return nil, err
	}
	var contents mcp.ResourceContents
	err = skills.WithTree(skill, func(tree *contained.Dir) (err error) {
		contents, err = wholeFile(ctx, tree, file, uri)
		return err
	})
	return contents, err
}

func wholeFile(ctx context.Context, tree *contained.Dir, file, uri string) (mcp.ResourceContents, error) {
	content, err := tree.Read(file, contained.Range{Limit: 1})
	if err == nil && content.Size <= maxResourceBytes {
		err = request.Reserve(ctx, content.Size)
	}
	if err != nil {
		return nil, err
	}
	content, err = tree.ReadAll(file, maxResourceBytes)
	if refused := (*contained.Error)(nil); errors.As(err, &refused) && refused.Rule == contained.TooLarge {
		return nil, &failure.Failure{Code: failure.TooLarge, Message: refused.Message, Cause: err,
			Hint: "Call the tool readResource, which reads parts of it by `offset` and `length`, or have a program look into it."}
	}
	if err != nil {
		return nil, err
	}
	if content.Text {
		return mcp.TextResourceContents{URI: uri, MIMEType: content.MIME, Text: string(content.Data)}, nil
	}
	return mcp.BlobResourceContents{URI: uri, MIMEType: content.MIME, Blob: base64.StdEncoding.EncodeToString(content.Data)}, nil
}
