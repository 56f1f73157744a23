package stdio

import (
	"context"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
)

// Bounds of what a stdio client has not got an answer to yet. What comes
// beyond them is answered with sandbox_busy.
const (
	// maxPendingCalls is how many tool calls there may be, and
	// maxPendingOthers how many other requests, so that calls that wait for
	// programs never keep others out.
	maxPendingCalls  = 1024
	maxPendingOthers = 1024
	// maxPendingBytes bounds all of them together.
	maxPendingBytes = 64 << 20
)

// pendingRequest is one that is not answered yet.
type pendingRequest struct {
	method mcp.MCPMethod
	size   int
}

// pending counts the requests that are not answered yet.
type pending struct {
	mu      sync.Mutex
	changed *sync.Cond
	closed  bool
	calls   int
	others  int
	lasting int // of others, which are answered only when the client ends them
	bytes   int
}

func newPending() *pending {
	p := &pending{}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// add counts a request, if there is room for it.
func (p *pending) add(r pendingRequest) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	count, most := p.others, maxPendingOthers
	if r.method == mcp.MethodToolsCall {
		count, most = p.calls, maxPendingCalls
	}
	if p.closed || count >= most || p.bytes+r.size > maxPendingBytes {
		return false
	}
	p.count(r, 1)
	return true
}

// done takes a request off.
func (p *pending) done(r pendingRequest) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(r, -1)
	p.changed.Broadcast()
}

// count adds a request to the sums, or takes it off. The lock is held.
func (p *pending) count(r pendingRequest, by int) {
	p.bytes += by * r.size
	switch r.method {
	case mcp.MethodToolsCall:
		p.calls += by
	case mcp.MethodSubscriptionsListen:
		p.lasting += by
		p.others += by
	default:
		p.others += by
	}
}

// settle waits until every request is answered, but for those that last as
// long as the client, or the context ends.
func (p *pending) settle(ctx context.Context) {
	await(ctx, p.changed, func() bool { return p.calls+p.others == p.lasting })
}

// close lets no request be added any more.
func (p *pending) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
