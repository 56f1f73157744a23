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

// pending knows the requests that are not answered yet.
type pending struct {
	// lasting are those that are answered only when the client ends them,
	// answering all others.
	lasting, answering sync.WaitGroup

	mu     sync.Mutex
	closed bool
	calls  int
	others int
	bytes  int
}

// add counts a request until done is called, if there is room for it.
func (p *pending) add(method mcp.MCPMethod, size int) (done func(), ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	count, most := &p.others, maxPendingOthers
	if method == mcp.MethodToolsCall {
		count, most = &p.calls, maxPendingCalls
	}
	if p.closed || *count >= most || p.bytes+size > maxPendingBytes {
		return nil, false
	}
	*count++
	p.bytes += size
	group := &p.answering
	if method == mcp.MethodSubscriptionsListen {
		group = &p.lasting
	}
	group.Add(1)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		*count--
		p.bytes -= size
		group.Done()
	}, true
}

// settle waits until every request is answered, but for those that last as
// long as the client, or the context ends. No request is added meanwhile.
func (p *pending) settle(ctx context.Context) {
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		p.answering.Wait()
	}()
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

// close lets no request be added any more, and waits for those that were.
func (p *pending) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.answering.Wait()
	p.lasting.Wait()
}
