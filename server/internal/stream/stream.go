// Package stream serves a client that has one stream for all that it is sent:
// over stdio, and over HTTP with SSE as of 2024-11-05.
package stream

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
)

// Session is the session of a client whose messages all go the same way.
type Session struct {
	*client.Client
	router  *router.Router
	subs    *client.Subscriptions
	write   func(message []byte) error
	library *mcpserver.InProcessSession
	ctx     context.Context
	asking  asking
	// shookHands says that the client is of a version before 2026-07-28, in
	// which notifications are not asked for by requests to listen.
	shookHands atomic.Bool
}

// Open begins the session of an id, which is over when ctx is and Close was
// called. write writes a message; it is called by several goroutines. It is an
// error that there is such a session.
func Open(ctx context.Context, rt *router.Router, subs *client.Subscriptions, id string, write func(message []byte) error) (*Session, error) {
	s := &Session{Client: client.New(), router: rt, subs: subs, write: write}
	s.library = mcpserver.NewInProcessSessionWithHandlers(id, nil, s, s)
	s.ctx = client.With(rt.Library.WithContext(ctx, s.library), s.Client)
	if err := rt.Library.RegisterSession(s.ctx, s.library); err != nil {
		return nil, err
	}
	subs.Join(s.Client, func(string) bool { return s.library.Initialized() })
	return s, nil
}

// Close ends the session.
func (s *Session) Close() {
	s.subs.Leave(s.Client)
	s.router.Library.UnregisterSession(s.ctx, s.library.SessionID())
}

// Run writes what the client is sent besides answers, until the session's
// context ends.
func (s *Session) Run() {
	var draining sync.WaitGroup
	defer draining.Wait()
	draining.Go(func() {
		s.Drain(s.ctx, func(n client.Notice) error {
			if !s.shookHands.Load() {
				return nil
			}
			return s.notify(n.Message(nil))
		})
	})
	for {
		select {
		case <-s.ctx.Done():
			return
		case notification := <-s.library.ClientNotifications():
			_ = s.notify(notification)
		}
	}
}

func (s *Session) notify(notification mcp.JSONRPCNotification) error { return s.send(notification) }

func (s *Session) send(message any) error {
	encoded, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return s.write(encoded)
}

// Begin returns the context of a request, which ends with the session, when the
// client cancels the request, and when end is called. A handshake cannot be
// canceled (MCP 2025-11-25, Cancellation).
func (s *Session) Begin(head jsonrpc.Message) (_ context.Context, end func()) {
	if head.Method == string(mcp.MethodInitialize) {
		s.shookHands.Store(true)
		return context.WithCancel(s.ctx)
	}
	return s.Client.Begin(s.ctx, head.ID)
}

// Take takes what needs no answer.
func (s *Session) Take(head jsonrpc.Message, message []byte) {
	switch head.Method {
	case "":
		s.asking.take(head.ID, message)
	case string(mcp.MethodNotificationCancelled):
		s.Cancel(head.Params)
	default:
		s.router.Forward(s.ctx, message)
	}
}

// Answer answers a request in the context of Begin. A request to listen lasts;
// what it asks for is written meanwhile.
func (s *Session) Answer(ctx context.Context, head jsonrpc.Message, message []byte) []byte {
	if head.Method == string(mcp.MethodSubscriptionsListen) {
		return s.listen(ctx, head, message)
	}
	return s.router.Route(ctx, head, message)
}

// listening is the session as a request to listen has it: the library's
// acknowledgement goes to the request alone.
type listening struct {
	*mcpserver.InProcessSession
	acknowledgement chan mcp.JSONRPCNotification
}

func (l listening) NotificationChannel() chan<- mcp.JSONRPCNotification { return l.acknowledgement }

// listen serves a request to listen: first comes the acknowledgement, which the
// library may be late with, then notifications that are tagged with the
// request, and at last its result.
func (s *Session) listen(ctx context.Context, head jsonrpc.Message, message []byte) (response []byte) {
	due, ok := s.subs.Listen(head)
	if !ok {
		return router.Refusal(head, failure.New(failure.SandboxBusy, "Try again later.", "too many clients listen"))
	}
	defer s.subs.Leave(due)
	session := listening{s.library, make(chan mcp.JSONRPCNotification, 1)}
	ctx = client.With(s.router.Library.WithContext(ctx, session), due)
	unanswered, answered := context.WithCancel(ctx)
	var routed sync.WaitGroup
	routed.Go(func() {
		defer answered()
		response = s.router.Route(ctx, head, message)
	})
	select {
	case acknowledgement := <-session.acknowledgement:
		if s.notify(acknowledgement) == nil {
			due.Drain(unanswered, func(n client.Notice) error { return s.notify(n.Message(head.ID)) })
		}
	case <-unanswered.Done():
	}
	routed.Wait()
	select {
	case acknowledgement := <-session.acknowledgement:
		_ = s.notify(acknowledgement)
	default:
	}
	return response
}
