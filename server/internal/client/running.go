package client

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

var errCanceled = errors.New("canceled by the client")

// Canceled reports whether the context of a request ended because its client
// canceled it.
func Canceled(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errCanceled) }

// Begin notes a request of the client, if there is one, so that Cancel ends its
// context, until end is called. The library does so too, but takes ids for the
// same that are not: "1" and 1, or large numbers.
func (c *Client) Begin(ctx context.Context, id json.RawMessage) (_ context.Context, end func()) {
	if c == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[&cancel] = jsonrpc.Key(id)
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		cancel(nil)
		delete(c.running, &cancel)
	}
}

// Cancel ends the requests that a notification's parameters name.
func (c *Client) Cancel(params json.RawMessage) {
	var named struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	_ = json.Unmarshal(params, &named) // without an id none is named
	key := jsonrpc.Key(named.RequestID)
	c.mu.Lock()
	defer c.mu.Unlock()
	for cancel, running := range c.running {
		if running == key {
			(*cancel)(errCanceled)
		}
	}
}
