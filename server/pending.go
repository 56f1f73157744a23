package server

import (
	"context"
	"slices"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
)

// Bounds of what a stdio client has not got an answer to yet. What comes
// beyond them is answered with sandbox_busy.
const (
	// maxPendingCalls is how many tool calls there may be, and
	// maxPendingOthers how many other messages, so that calls that wait for
	// programs never keep others out.
	maxPendingCalls  = 1024
	maxPendingOthers = 1024
	// maxPendingBytes bounds all of them together.
	maxPendingBytes = 64 << 20
)

// pendingMessage is one that is not answered yet, or not passed on.
type pendingMessage struct {
	head   jsonrpc.Message
	size   int
	cancel context.CancelFunc
	// canceled tells that the client does not want the answer any more.
	canceled bool
}

func (m *pendingMessage) isCall() bool { return m.head.Method == string(mcp.MethodToolsCall) }

// lasts tells of a request that is answered only when the client ends it.
func (m *pendingMessage) lasts() bool { return m.head.Method == string(mcp.MethodSubscriptionsListen) }

// pending are the messages of a stdio client that are not done with.
type pending struct {
	mu      sync.Mutex
	changed *sync.Cond
	closed  bool
	byID    map[string][]*pendingMessage
	calls   int
	others  int
	lasting int // of others
	bytes   int
}

func newPending() *pending {
	p := &pending{byID: map[string][]*pendingMessage{}}
	p.changed = sync.NewCond(&p.mu)
	return p
}

// add notes a message, if there is room for it.
func (p *pending) add(m *pendingMessage) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	count, most := &p.others, maxPendingOthers
	if m.isCall() {
		count, most = &p.calls, maxPendingCalls
	}
	if p.closed || *count >= most || p.bytes+m.size > maxPendingBytes {
		return false
	}
	p.count(m, 1)
	if m.head.IsRequest() {
		key := jsonrpc.Key(m.head.ID)
		p.byID[key] = append(p.byID[key], m)
	}
	return true
}

// done forgets a message.
func (p *pending) done(m *pendingMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(m, -1)
	key := jsonrpc.Key(m.head.ID) // nothing is found for what is no request
	if p.byID[key] = slices.DeleteFunc(p.byID[key], func(other *pendingMessage) bool { return other == m }); len(p.byID[key]) == 0 {
		delete(p.byID, key)
	}
	p.changed.Broadcast()
}

// count adds a message to the sums, or takes it off. The lock is held.
func (p *pending) count(m *pendingMessage, by int) {
	p.bytes += by * m.size
	if m.isCall() {
		p.calls += by
		return
	}
	p.others += by
	if m.lasts() {
		p.lasting += by
	}
}

// cancelID ends the requests of an id, whose answers are not wanted any more.
// That of a handshake always is (MCP 2025-11-25, Cancellation).
func (p *pending) cancelID(id []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.byID[jsonrpc.Key(id)] {
		if m.head.Method != string(mcp.MethodInitialize) {
			m.canceled = true
			m.cancel()
		}
	}
}

// wanted reports whether a request's answer is still wanted.
func (p *pending) wanted(m *pendingMessage) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !m.canceled
}

// settle waits until every message is done with, but for those that last as
// long as the client, or the context ends.
func (p *pending) settle(ctx context.Context) {
	await(ctx, p.changed, func() bool { return p.calls+p.others == p.lasting })
}

// close makes that no message is added any more.
func (p *pending) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}
