package stdio

import (
	"context"

	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// turns bound how many requests are worked on at once, and so how much memory
// their answers take together.
type turns chan struct{}

// begin waits for a turn, which end gives back, and which the request gives
// back while it waits for a program ([request.Idle]). There is none where the
// context ended before. A request is served by one goroutine.
func (t turns) begin(ctx context.Context) (_ context.Context, end func()) {
	held := false
	take := func() {
		select {
		case t <- struct{}{}:
			held = true
		case <-ctx.Done():
		}
	}
	giveBack := func() {
		if held {
			held = false
			<-t
		}
	}
	take()
	return request.WithIdle(ctx, func() (resume func()) {
		giveBack()
		return take
	}), giveBack
}
