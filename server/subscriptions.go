package server

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

func (s *Server) hookSubscriptions(hooks *mcpserver.Hooks) {
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, request *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		s.subscribe(ctx, request.Params.URI)
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, request *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		s.subscriptions.Remove(ctx, request.Params.URI)
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, _ any, request *mcp.SubscriptionsListenRequest) {
		s.subscribe(ctx, request.Params.Notifications.ResourceSubscriptions...)
	})
}

// subscribe notes what the client of a request wants to hear of.
func (s *Server) subscribe(ctx context.Context, uris ...string) {
	uris = s.subscribable(uris...)
	if refused := s.subscriptions.Add(ctx, uris...); refused > 0 {
		s.log.Warn("too many subscriptions; some get no updates", "refused", refused)
	}
	s.noteStates(uris...)
}
