// Package request is what a request carries in its context, from the transport
// that took it to what serves it: who asks, and its part in bounds that requests
// share.
package request

import (
	"context"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

type (
	sessionKey struct{}
	senderKey  struct{}
	idleKey    struct{}
	reserveKey struct{}
)

// WithSession returns the context of a request of the session of an id, which is
// served without the MCP library.
func WithSession(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, sessionKey{}, id)
}

// SessionID returns the id of the caller's lasting session, or nothing where
// every request stands alone.
func SessionID(ctx context.Context) string {
	if id, ok := ctx.Value(sessionKey{}).(string); ok {
		return id
	}
	if session := mcpserver.ClientSessionFromContext(ctx); session != nil {
		return session.SessionID()
	}
	return ""
}

// WithSender returns the context of a request that sender sent, as far as that
// is known.
func WithSender(ctx context.Context, sender string) context.Context {
	return context.WithValue(ctx, senderKey{}, sender)
}

// Sender returns who sent a request, as far as that is known.
func Sender(ctx context.Context) string {
	sender, _ := ctx.Value(senderKey{}).(string)
	return sender
}

// Caller returns a name of who asks, for the shares of what all have together:
// the session, or the sender of a request that stands alone.
func Caller(ctx context.Context) string {
	if id := SessionID(ctx); id != "" {
		return id
	}
	return Sender(ctx)
}

// WithIdle returns the context of a request for which [Idle] calls idle.
func WithIdle(ctx context.Context, idle func() (resume func())) context.Context {
	return context.WithValue(ctx, idleKey{}, idle)
}

// Idle makes way for other requests, until resume is called: the request only
// waits for a program.
func Idle(ctx context.Context) (resume func()) {
	if idle, ok := ctx.Value(idleKey{}).(func() func()); ok {
		return idle()
	}
	return func() {}
}

// WithReserve returns the context of a request for which [Reserve] calls
// reserve.
func WithReserve(ctx context.Context, reserve func(ctx context.Context, bytes int64) error) context.Context {
	return context.WithValue(ctx, reserveKey{}, reserve)
}

// Reserve makes sure, before it is there, that there is room for an answer of
// so many bytes. Its error is one for the client.
func Reserve(ctx context.Context, bytes int64) error {
	if reserve, ok := ctx.Value(reserveKey{}).(func(context.Context, int64) error); ok {
		return reserve(ctx, bytes)
	}
	return nil
}
