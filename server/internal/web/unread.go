package web

import (
	"context"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// What clients over HTTP have not read may cost memory. An answer with a file
// takes about three times the file's length until it is read.
const (
	// unreadBytes bounds the files in the answers of all clients, and
	// unreadBytesOfOne in those of one caller. Answers of smallBodyBytes do not count.
	unreadBytes      = 128 << 20
	unreadBytesOfOne = unreadBytes / 4 * 3
	// unreadTimeout is how long a client may take to read a long answer.
	unreadTimeout = time.Minute
)

// unread knows what the answers hold that clients have not read.
type unread struct {
	mu       sync.Mutex
	held     int64
	byCaller map[string]int64
}

// unreadAnswer is what the answer to one request holds.
type unreadAnswer struct {
	of     *unread
	long   func() // called where the answer is a long one
	bytes  int64
	caller string
}

// begin has what [request.Reserve] takes for a request counted, until done is
// called. On stdio turns and the outbox bound the same.
func (u *unread) begin(ctx context.Context, long func()) (_ context.Context, done func()) {
	answer := &unreadAnswer{of: u, long: long}
	return request.WithReserve(ctx, answer.reserve), answer.done
}

func (a *unreadAnswer) done() {
	if a.bytes == 0 {
		return
	}
	u := a.of
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held -= a.bytes
	if u.byCaller[a.caller] -= a.bytes; u.byCaller[a.caller] == 0 {
		delete(u.byCaller, a.caller)
	}
}

func (a *unreadAnswer) reserve(ctx context.Context, bytes int64) error {
	if bytes <= max(a.bytes, smallBodyBytes) {
		return nil
	}
	u := a.of
	u.mu.Lock()
	defer u.mu.Unlock()
	a.caller = request.Caller(ctx)
	more := bytes - a.bytes
	if u.held+more > unreadBytes || u.byCaller[a.caller]+more > unreadBytesOfOne {
		return failure.New(failure.SandboxBusy, "Read the answers that are under way, then try again.", "too many long answers have not been read")
	}
	if u.byCaller == nil {
		u.byCaller = map[string]int64{}
	}
	u.held += more
	u.byCaller[a.caller] += more
	a.bytes = bytes
	a.long()
	return nil
}
