package client

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// Begin notes a request of the client, if there is one, so that Cancel ends its
// context, until end is called. The library does so too, but takes ids for the
// same that are not: "1" and 1, or large numbers.
func (c *Client) Begin(ctx context.Context, id json.RawMessage) (_ context.Context, end func()) {
	if c == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	key := jsonrpc.Key(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[key] = append(c.running[key], &cancel)
	return ctx, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		cancel()
		others := slices.DeleteFunc(c.running[key], func(other *context.CancelFunc) bool { return other == &cancel })
		if c.running[key] = others; len(others) == 0 {
			delete(c.running, key)
		}
	}
}

// Cancel ends the requests that a notification's parameters name.
func (c *Client) Cancel(params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cancel := range c.running[jsonrpc.Key(jsonrpc.CanceledID(params))] {
		(*cancel)()
	}
}
