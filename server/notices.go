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

// notices are what one client is still to be told, in order and each once:
// they are bounded by what the client subscribed to, whether it reads or not,
// and none is dropped while it is there. A client that is told reads what there
// is then, so once is enough.
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
func (p *notices) add(n notice) { p.put(n, false) }

// put adds a notice, at the front where it had been taken from there.
func (p *notices) put(n notice, front bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.pending[n]; ok {
		return
	}
	p.pending[n] = struct{}{}
	if front {
		p.order = slices.Insert(p.order, 0, n)
	} else {
		p.order = append(p.order, n)
	}
	p.wake()
}

// wake lets a drain look again; the caller holds the lock.
func (p *notices) wake() {
	select {
	case p.ready <- struct{}{}:
	default:
	}
}

// take returns the oldest notice, which is no longer pending then.
func (p *notices) take() (notice, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.order) == 0 {
		return notice{}, false
	}
	n := p.order[0]
	delete(p.pending, n)
	if p.order = p.order[1:]; len(p.order) == 0 {
		p.order = nil // a burst's memory
	} else {
		p.wake() // another drain, should this one end
	}
	return n, true
}

// drop forgets a notice that nobody wants any more.
func (p *notices) drop(n notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.pending[n]; ok {
		delete(p.pending, n)
		p.order = slices.DeleteFunc(p.order, func(other notice) bool { return other == n })
	}
}

// drain hands what is pending to write, one by one and as fast as write
// returns, until ctx ends or write fails. What write failed for stays
// pending. Several drains may run at once: each notice goes to one of them.
func (p *notices) drain(ctx context.Context, write func(notice) error) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.ready:
		}
		for {
			n, ok := p.take()
			if !ok {
				break
			}
			if err := write(n); err != nil {
				p.put(n, true)
				return
			}
			if ctx.Err() != nil {
				return // what is left keeps its token
			}
		}
	}
}
