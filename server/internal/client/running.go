package client

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// Running are the requests of clients that last longer than one request, so
// that a notification can cancel one. The library has them too, but takes ids
// for the same that are not: "1" and 1, or large numbers.
type Running struct {
	mu   sync.Mutex
	byID map[runningID][]*context.CancelFunc
}

// runningID is an id and whose it is.
type runningID struct {
	client *Client
	key    string
}

// Begin notes a request of the context's client, if it has one, until end is
// called.
func (r *Running) Begin(ctx context.Context, id json.RawMessage) (_ context.Context, end func()) {
	client := From(ctx)
	if client == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	at := runningID{client, jsonrpc.Key(id)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID == nil {
		r.byID = map[runningID][]*context.CancelFunc{}
	}
	r.byID[at] = append(r.byID[at], &cancel)
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		cancel()
		others := slices.DeleteFunc(r.byID[at], func(other *context.CancelFunc) bool { return other == &cancel })
		if r.byID[at] = others; len(others) == 0 {
			delete(r.byID, at)
		}
	}
}

// Cancel ends the requests that a notification names, and reports whether its
// context has a client.
func (r *Running) Cancel(ctx context.Context, params json.RawMessage) bool {
	client := From(ctx)
	if client == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, cancel := range r.byID[runningID{client, jsonrpc.Key(jsonrpc.CanceledID(params))}] {
		(*cancel)()
	}
	return true
}
