package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
)

func (s *Server) hookSubscriptions(hooks *mcpserver.Hooks) {
	subs := &s.subscriptions
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, request *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		s.subscribe(ctx, "", request.Params.URI)
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, request *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		subs.Remove(ctx, "", request.Params.URI)
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, _ any, request *mcp.SubscriptionsListenRequest) {
		s.subscribe(ctx, jsonrpc.Key(router.ID(ctx)), request.Params.Notifications.ResourceSubscriptions...)
	})
	hooks.AddAfterSubscriptionsListen(func(ctx context.Context, _ any, request *mcp.SubscriptionsListenRequest, _ *mcp.SubscriptionsListenResult) {
		subs.Remove(ctx, jsonrpc.Key(router.ID(ctx)), request.Params.Notifications.ResourceSubscriptions...)
	})
}

// subscribe notes what the client of a request wants to hear of.
func (s *Server) subscribe(ctx context.Context, listen string, uris ...string) {
	uris = s.subscribable(uris...)
	if refused := s.subscriptions.Add(ctx, listen, uris...); refused > 0 {
		s.log.Warn("too many subscriptions; some get no updates", "refused", refused)
	}
	s.noteStates(uris...)
}
