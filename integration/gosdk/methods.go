package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// send sends the request by the session's method of that name.
func (r request) send(ctx context.Context, session *mcp.ClientSession) (any, error) {
	switch r.Method {
	case "listTools":
		return all(ctx, "tools", session.Tools)
	case "listResources":
		return all(ctx, "resources", session.Resources)
	case "listResourceTemplates":
		return all(ctx, "resourceTemplates", session.ResourceTemplates)
	case "listPrompts":
		return all(ctx, "prompts", session.Prompts)
	case "readResource":
		return call(ctx, r, session.ReadResource)
	case "getPrompt":
		return call(ctx, r, session.GetPrompt)
	case "complete":
		return call(ctx, r, session.Complete)
	case "callTool":
		return call(ctx, r, func(ctx context.Context, params *mcp.CallToolParams) (*mcp.CallToolResult, error) {
			if r.Progress {
				params.SetProgressToken(r.ID)
			}
			return session.CallTool(ctx, params)
		})
	case "watch":
		return nil, session.Subscribe(ctx, &mcp.SubscribeParams{URI: r.uri()})
	case "unwatch":
		return nil, session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: r.uri()})
	}
	return nil, fmt.Errorf("no such method: %s", r.Method)
}

// call decodes the request's first argument and calls a method with it.
func call[P, R any](ctx context.Context, r request, method func(context.Context, *P) (*R, error)) (any, error) {
	params := new(P)
	if err := json.Unmarshal(r.Args[0], params); err != nil {
		return nil, err
	}
	return method(ctx, params)
}

// all returns a list's items, of all pages, under their field's name.
func all[P, T any](ctx context.Context, field string, list func(context.Context, *P) iter.Seq2[*T, error]) (any, error) {
	items := []*T{}
	for item, err := range list(ctx, nil) {
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return map[string]any{field: items}, nil
}

// uri returns the request's first argument, a string.
func (r request) uri() string {
	var uri string
	json.Unmarshal(r.Args[0], &uri)
	return uri
}
