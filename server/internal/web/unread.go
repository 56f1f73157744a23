package web

import (
	"context"
	"net/http"
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

// whileUnread has what [request.Reserve] takes for a request counted until done
// is called, and calls long for an answer that is long. On stdio turns and the
// outbox bound the same.
func whileUnread(ctx context.Context, unread *budget, long func()) (_ context.Context, done func()) {
	answer := &share{of: unread}
	return request.WithReserve(ctx, func(ctx context.Context, bytes int64) error {
		if bytes <= max(answer.held, smallBodyBytes) {
			return nil
		}
		if !answer.raise(request.Caller(ctx), bytes) {
			return failure.New(failure.SandboxBusy, "Read the answers that are under way, then try again.", "too many long answers have not been read")
		}
		long()
		return nil
	}), answer.release
}

// hurry bounds how long a client may take to read what is written next.
func hurry(w http.ResponseWriter, timeout time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout))
}
