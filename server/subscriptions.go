package server

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// maxSubscriptions bounds the URIs of one subscriber, so that a client that
// retries in a loop with ever new ones costs little.
const maxSubscriptions = 10_000

// subscriber is who wants to hear of resources: a session, or one of its
// requests to listen (from protocol version 2026-07-28 on).
type subscriber struct {
	session mcpserver.ClientSession
	listen  string // the request's id, or empty
}

// subscriptions knows who wants to hear of which resource. The library
// accepts subscriptions and leaves their keeping to its user.
type subscriptions struct {
	mu   sync.Mutex
	uris map[subscriber]map[string]struct{}
	// sessions finds the session of an id: the library makes a new value of
	// it for each HTTP request, of which only the registered one can be
	// written to.
	sessions map[string]mcpserver.ClientSession
}

func (s *Server) hookSubscriptions(hooks *mcpserver.Hooks) {
	subs := &s.subscriptions
	hooks.AddOnRegisterSession(func(_ context.Context, session mcpserver.ClientSession) { subs.register(session) })
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) { subs.unregister(session) })
	hooks.AddAfterSubscribe(func(ctx context.Context, _ any, request *mcp.SubscribeRequest, _ *mcp.EmptyResult) {
		s.subscribe(ctx, "", request.Params.URI)
	})
	hooks.AddAfterUnsubscribe(func(ctx context.Context, _ any, request *mcp.UnsubscribeRequest, _ *mcp.EmptyResult) {
		subs.remove(ctx, "", request.Params.URI)
	})
	hooks.AddBeforeSubscriptionsListen(func(ctx context.Context, id any, request *mcp.SubscriptionsListenRequest) {
		s.subscribe(ctx, fmt.Sprint(id), request.Params.Notifications.ResourceSubscriptions...)
	})
	hooks.AddAfterSubscriptionsListen(func(ctx context.Context, id any, request *mcp.SubscriptionsListenRequest, _ *mcp.SubscriptionsListenResult) {
		subs.remove(ctx, fmt.Sprint(id), request.Params.Notifications.ResourceSubscriptions...)
	})
}

// subscribe notes what a subscriber wants to hear of.
func (s *Server) subscribe(ctx context.Context, listen string, uris ...string) {
	uris = s.subscribable(uris...)
	s.subscriptions.add(ctx, listen, uris...)
	s.noteStates(uris...)
}

func (s *subscriptions) register(session mcpserver.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions == nil {
		s.sessions = map[string]mcpserver.ClientSession{}
	}
	s.sessions[session.SessionID()] = session
}

func (s *subscriptions) unregister(session mcpserver.ClientSession) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session.SessionID())
	for subscriber := range s.uris {
		if subscriber.session == session {
			delete(s.uris, subscriber)
		}
	}
}

// lasting gives the registered session behind a request's. A session without
// an id is the stream of a request to listen and stands for itself.
func (s *subscriptions) lasting(ctx context.Context) mcpserver.ClientSession {
	session := mcpserver.ClientSessionFromContext(ctx)
	if session == nil || session.SessionID() == "" {
		return session
	}
	return s.sessions[session.SessionID()]
}

func (s *subscriptions) add(ctx context.Context, listen string, uris ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := subscriber{s.lasting(ctx), listen}
	if who.session == nil {
		return
	}
	if s.uris == nil {
		s.uris = map[subscriber]map[string]struct{}{}
	}
	for _, uri := range uris {
		if s.uris[who] == nil {
			s.uris[who] = map[string]struct{}{}
		}
		if len(s.uris[who]) < maxSubscriptions {
			s.uris[who][uri] = struct{}{}
		}
	}
}

func (s *subscriptions) remove(ctx context.Context, listen string, uris ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who := subscriber{s.lasting(ctx), listen}
	for _, uri := range uris {
		delete(s.uris[who], uri)
	}
	if len(s.uris[who]) == 0 {
		delete(s.uris, who)
	}
}

// forget ends all subscriptions to a URI.
func (s *subscriptions) forget(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for who, uris := range s.uris {
		delete(uris, uri)
		if len(uris) == 0 {
			delete(s.uris, who)
		}
	}
}

// wanted gives the sessions and the URIs they subscribed to, sorted, each
// once.
func (s *subscriptions) wanted() map[mcpserver.ClientSession][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := make(map[mcpserver.ClientSession][]string, len(s.uris))
	for who, uris := range s.uris {
		for uri := range uris {
			wanted[who.session] = append(wanted[who.session], uri)
		}
	}
	for session, uris := range wanted {
		slices.Sort(uris)
		wanted[session] = slices.Compact(uris)
	}
	return wanted
}
