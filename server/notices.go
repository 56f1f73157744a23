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

// notices holds what one client is still to be told, in order and each notice
// once: it is bounded by what the client subscribed to, whether the client
// reads or not, and nothing in it is dropped while the client is there. A
// client that is told reads what there is then, so once is enough.
type notices struct {
	mu      sync.Mutex
	pending map[notice]struct{}
	order   []notice // the keys of pending
	// ready holds a token while something may be pending.
	ready chan struct{}
}

func newNotices() *notices {
	return &notices{pending: map[notice]struct{}{}, ready: make(chan struct{}, 1)}
}

// add notes something to tell.
func (all *notices) add(n notice) { all.put(n, false) }

// put adds a notice, at the front where it had been taken from there.
func (all *notices) put(n notice, front bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if _, ok := all.pending[n]; ok {
		return
	}
	all.pending[n] = struct{}{}
	if front {
		all.order = slices.Insert(all.order, 0, n)
	} else {
		all.order = append(all.order, n)
	}
	all.wake()
}

// wake lets a drain look again; the caller holds the lock.
func (all *notices) wake() {
	select {
	case all.ready <- struct{}{}:
	default:
	}
}

// take returns the oldest notice, which is no longer pending then.
func (all *notices) take() (notice, bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if len(all.order) == 0 {
		return notice{}, false
	}
	n := all.order[0]
	delete(all.pending, n)
	if all.order = all.order[1:]; len(all.order) == 0 {
		all.order = nil // a burst's memory
	} else {
		all.wake() // another drain, should this one end
	}
	return n, true
}

// drop forgets a notice that nobody wants any more.
func (all *notices) drop(n notice) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if _, ok := all.pending[n]; ok {
		delete(all.pending, n)
		all.order = slices.DeleteFunc(all.order, func(other notice) bool { return other == n })
	}
}

// drain hands what is pending to write, one by one and as fast as write
// returns, until ctx ends or write fails. What write failed for stays
// pending. Several drains may run at once: each notice goes to one of them.
func (all *notices) drain(ctx context.Context, write func(notice) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-all.ready:
		}
		for {
			n, ok := all.take()
			if !ok {
				break
			}
			if err := write(n); err != nil {
				all.put(n, true)
				return
			}
			if ctx.Err() != nil {
				return // what is left keeps its token
			}
		}
	}
}
