// Package client knows the clients that hear of changes: what each subscribed
// to, what it is still to be sent, and which of its requests run, so that it
// can cancel them.
package client

import (
	"container/list"
	"context"
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
	pending map[Notice]*list.Element
	order   list.List // of the keys of pending
	// ready has a token while something may be pending.
	ready chan struct{}
	// running are the client's requests that can be canceled, with the keys of
	// their ids.
	running map[*context.CancelCauseFunc]string
}

// New returns a client to which nothing is to be sent yet.
func New() *Client {
	return &Client{pending: map[Notice]*list.Element{}, ready: make(chan struct{}, 1), running: map[*context.CancelCauseFunc]string{}}
}

// Notify queues a notice.
func (c *Client) Notify(n Notice) { c.put(n, c.order.PushBack) }

func (c *Client) put(n Notice, push func(any) *list.Element) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[n] == nil {
		c.pending[n] = push(n)
		c.wake()
	}
}

// wake lets a drain look again.
func (c *Client) wake() {
	select {
	case c.ready <- struct{}{}:
	default:
	}
}

// take returns the oldest notice, which is no longer pending then.
func (c *Client) take() (_ Notice, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	oldest := c.order.Front()
	if oldest == nil {
		return Notice{}, false
	}
	n := c.order.Remove(oldest).(Notice)
	delete(c.pending, n)
	if c.order.Len() > 0 {
		c.wake() // another drain, should this one end
	}
	return n, true
}

// drop removes a notice that is not wanted any more.
func (c *Client) drop(n Notice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if queued := c.pending[n]; queued != nil {
		c.order.Remove(queued)
		delete(c.pending, n)
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
			c.put(n, c.order.PushFront)
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
