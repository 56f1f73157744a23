package stdio

import (
	"context"

	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// turns bound how many requests of a stdio client are worked on at once, and
// so how much memory their answers take together. A request that waits for a
// program gives its turn back meanwhile.
type turns chan struct{}

// turn is one request's, used by one goroutine.
type turn struct {
	of   turns
	held bool
}

// begin waits for a turn, which end gives back. There is none where the context
// ended before.
func (t turns) begin(ctx context.Context) (_ context.Context, end func()) {
	mine := &turn{of: t}
	mine.take(ctx)
	return request.WithIdle(ctx, func() (resume func()) {
		mine.back()
		return func() { mine.take(ctx) }
	}), mine.back
}

func (t *turn) take(ctx context.Context) {
	select {
	case t.of <- struct{}{}:
		t.held = true
	case <-ctx.Done():
	}
}

func (t *turn) back() {
	if t.held {
		t.held = false
		<-t.of
	}
}
