// Package client knows the clients that hear of changes: what each subscribed
// to, what it is still to be sent, and which of its requests run, so that it
// can cancel them.
package client

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// Notice says that a list has changed, or the resource of a URI.
type Notice struct{ Method, URI string }

// Updated is the notice that a resource has changed.
func Updated(uri string) Notice { return Notice{mcp.MethodNotificationResourceUpdated, uri} }

// Message returns the message of a notice, tagged with the request that
// asked for it unless tag is nil.
func (n Notice) Message(tag any) mcp.JSONRPCNotification {
	message := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	message.Method = n.Method
	if n.URI != "" {
		message.Params.AdditionalFields = map[string]any{"uri": n.URI}
	}
	if tag != nil {
		message.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: tag}
	}
	return message
}

// Client is one that hears of changes.
type Client struct {
	mu sync.Mutex
	// pending are the notices that are not sent yet, each once: they are
	// bounded by what the client subscribed to, whether it reads or not, and
	// none is dropped while it is there. A client reads what there is when a
	// notice comes, so once is enough.
	pending map[Notice]struct{}
	order   []Notice // the keys of pending
	// ready has a token while something may be pending.
	ready chan struct{}
	// running are the client's requests that can be canceled, by the keys of
	// their ids.
	running map[string][]*context.CancelCauseFunc
}

func New() *Client {
	return &Client{pending: map[Notice]struct{}{}, ready: make(chan struct{}, 1), running: map[string][]*context.CancelCauseFunc{}}
}

// Notify queues a notice.
func (c *Client) Notify(n Notice) { c.put(n, false) }

// put adds a notice, at the front where it had been taken from there.
func (c *Client) put(n Notice, front bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pending[n]; ok {
		return
	}
	c.pending[n] = struct{}{}
	if front {
		c.order = slices.Insert(c.order, 0, n)
	} else {
		c.order = append(c.order, n)
	}
	c.wake()
}

// wake lets a drain look again.
func (c *Client) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// take returns the oldest notice, which is no longer pending then.
func (c *Client) take() (Notice, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.order) == 0 {
		return Notice{}, false
	}
	n := c.order[0]
	delete(c.pending, n)
	if c.order = c.order[1:]; len(c.order) == 0 {
		c.order = nil // a burst's memory
	} else {
		c.wake() // another drain, should this one end
	}
	return n, true
}

// drop removes a notice that is not wanted any more.
func (c *Client) drop(n Notice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.pending[n]; ok {
		delete(c.pending, n)
		c.order = slices.DeleteFunc(c.order, func(other Notice) bool { return other == n })
	}
}

// Drain calls write with the notices, one by one and as fast as write returns,
// until ctx ends or write fails. What write failed for stays pending. Several
// drains may run at once: each notice goes to one of them.
func (c *Client) Drain(ctx context.Context, write func(Notice) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.ready:
		}
		if ctx.Err() != nil {
			c.wake() // another drain
			return
		}
		if n, ok := c.take(); ok && write(n) != nil {
			c.put(n, true)
			return
		}
	}
}

type key struct{}

// With returns a context of a request of a client.
func With(ctx context.Context, c *Client) context.Context {
	return context.WithValue(ctx, key{}, c)
}

// From returns the client of a request, or nil.
func From(ctx context.Context) *Client {
	c, _ := ctx.Value(key{}).(*Client)
	return c
}
