// Package publish shows the skills of a catalog to clients: as resources,
// prompts and completions, by the Skills extension, and in the instructions.
//
// Names, URIs and cursors come from clients, and are trusted with nothing.
package publish

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/server/internal/activation"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/recorder"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Publisher publishes skills. It is safe for use by several goroutines.
type Publisher struct {
	Skills     skills.Access
	Workspaces *workspace.Access
	Activation activation.Writer
	// Shares has the change sets of the user's directories; nil for none.
	Shares *shares.Access
	// Pinned are names of skills that the instructions list first.
	Pinned []string
	// CompatIndex serves skill://index.json, as drafts of the Skills
	// extension had it.
	CompatIndex bool
	Recorder    recorder.Recorder
	Log         *slog.Logger
}

// Every read and every prompt is led to one that the library knows, with what
// was asked for among the arguments. So no URI depends on how the library's
// template expressions take percent signs and unicode.
const (
	internalURI  = "skills-mcp:read"
	internalName = "skills-mcp:prompt"
	askedFor     = "skills-mcp/asked-for"
)

// Hook has the library ask for what it lists and reads.
func (p *Publisher) Hook(hooks *mcpserver.Hooks) {
	hooks.AddAfterInitialize(func(_ context.Context, _ any, request *mcp.InitializeRequest, result *mcp.InitializeResult) {
		result.Instructions = p.instructions()
		if cards.Declared(request.Params.Capabilities) {
			cards.Advertise(&result.Capabilities)
		}
	})
	hooks.AddAfterDiscover(func(ctx context.Context, _ any, _ *mcp.DiscoverRequest, result *mcp.DiscoverResult) {
		result.Instructions = p.instructions()
		if cards.Wanted(ctx) {
			cards.Advertise(&result.Capabilities)
		}
	})
	hooks.AddAfterListResources(func(ctx context.Context, _ any, request *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		if !router.Served(ctx) {
			p.listResources(request.Params.Cursor, result)
			if request.Params.Cursor == "" && cards.Wanted(ctx) {
				result.Resources = append(cards.Resources(), result.Resources...)
			}
		}
	})
	hooks.AddAfterListPrompts(func(_ context.Context, _ any, request *mcp.ListPromptsRequest, result *mcp.ListPromptsResult) {
		p.listPrompts(request.Params.Cursor, result)
	})
	hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, result *mcp.ListResourceTemplatesResult) {
		result.ResourceTemplates, result.NextCursor = templates(), ""
	})
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, request *mcp.ReadResourceRequest) {
		request.Params.Arguments = map[string]any{askedFor: request.Params.URI}
		request.Params.URI = internalURI
	})
	hooks.AddBeforeGetPrompt(func(_ context.Context, _ any, request *mcp.GetPromptRequest) {
		request.Params.Arguments = map[string]string{askedFor: request.Params.Name, "arguments": request.Params.Arguments["arguments"]}
		request.Params.Name = internalName
	})
}

// Register has the library know one resource and one prompt, which stand for
// all.
func (p *Publisher) Register(library *mcpserver.MCPServer) {
	library.AddResource(mcp.NewResource(internalURI, "read"), func(ctx context.Context, request mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		uri, _ := request.Params.Arguments[askedFor].(string)
		contents, err := p.Read(ctx, uri)
		if err != nil {
			return nil, pass(ctx, err)
		}
		return []mcp.ResourceContents{contents}, nil
	})
	library.AddPrompt(mcp.NewPrompt(internalName), func(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		name, arguments := request.Params.Arguments[askedFor], request.Params.Arguments["arguments"]
		prompt, err := recorder.Record(ctx, p.Recorder, asked("prompts/get", "name", name, "arguments", arguments), func(ctx context.Context) (*mcp.GetPromptResult, error) {
			return p.prompt(ctx, name, arguments)
		})
		if err != nil {
			f := failure.Of(err)
			f.Log(p.Log, "prompts/get")
			return nil, pass(ctx, f)
		}
		return prompt, nil
	})
}

// asked is a reading as the audit log has it, with the keys and values of its
// parameters.
func asked(method string, params ...string) recorder.Request {
	input := map[string]string{}
	for i := 0; i < len(params); i += 2 {
		input[params[i]] = params[i+1]
	}
	encoded, _ := json.Marshal(input) // of texts
	return recorder.Request{Event: audit.Read, Method: method, Input: encoded}
}

// pass has a failure go past the library to the router, since the library has
// one code for all of a handler's errors.
func pass(ctx context.Context, err error) error {
	f := failure.Of(err)
	router.Fail(ctx, f)
	return errors.New(f.Error())
}
