package server

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// notice is one thing to tell a client: that a list has changed, or the
// resource of a URI.
type notice struct{ method, uri string }

// notification returns the message of a notice, tagged with the request that
// asked for it unless tag is nil.
func (n notice) notification(tag any) mcp.JSONRPCNotification {
	message := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	message.Method = n.method
	if n.uri != "" {
		message.Params.AdditionalFields = map[string]any{"uri": n.uri}
	}
	if tag != nil {
		message.Params.Meta = map[string]any{mcp.MetaKeySubscriptionID: tag}
	}
	return message
}

// outbox holds what one client is still to be told, in order and each notice
// once: it is bounded by what the client subscribed to, whether the client
// reads or not, and nothing in it is dropped while the client is there. A
// client that is told reads what there is then, so once is enough.
type outbox struct {
	mu      sync.Mutex
	pending map[notice]struct{}
	order   []notice // the keys of pending
	// ready holds a token while something may be pending.
	ready chan struct{}
}

func newOutbox() *outbox {
	return &outbox{pending: map[notice]struct{}{}, ready: make(chan struct{}, 1)}
}

// add notes something to tell.
func (o *outbox) add(n notice) { o.put(n, false) }

// put adds a notice, at the front where it had been taken from there.
func (o *outbox) put(n notice, front bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.pending[n]; ok {
		return
	}
	o.pending[n] = struct{}{}
	if front {
		o.order = slices.Insert(o.order, 0, n)
	} else {
		o.order = append(o.order, n)
	}
	o.wake()
}

// wake lets a drain look again; the caller holds the lock.
func (o *outbox) wake() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// take returns the oldest notice, which is no longer pending then.
func (o *outbox) take() (notice, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.order) == 0 {
		return notice{}, false
	}
	n := o.order[0]
	delete(o.pending, n)
	if o.order = o.order[1:]; len(o.order) == 0 {
		o.order = nil // a burst's memory
	} else {
		o.wake() // another drain, should this one end
	}
	return n, true
}

// drop forgets a notice that nobody wants any more.
func (o *outbox) drop(n notice) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.pending[n]; ok {
		delete(o.pending, n)
		o.order = slices.DeleteFunc(o.order, func(other notice) bool { return other == n })
	}
}

// drain hands what is pending to write, one by one and as fast as write
// returns, until ctx ends or write fails. What write failed for stays
// pending. Several drains may run at once: each notice goes to one of them.
func (o *outbox) drain(ctx context.Context, write func(notice) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.ready:
		}
		for {
			n, ok := o.take()
			if !ok {
				break
			}
			if err := write(n); err != nil {
				o.put(n, true)
				return
			}
			if ctx.Err() != nil {
				return // what is left keeps its token
			}
		}
	}
}
