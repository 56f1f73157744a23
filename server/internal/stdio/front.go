package stdio

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
	"github.com/skills-mcp/skills-mcp/server/internal/stream"
)

// front stands between the client and its session. Its reader waits for nothing
// but input: each request is served in a goroutine of its own, within bounds,
// and answers go through an outbox.
type front struct {
	session *stream.Session
	stop    context.CancelFunc
	out     *outbox
	pending pending
	turns   turns
	// shaken closes when the handshake that was read last is over, and is nil
	// before. Only the reader uses it.
	shaken <-chan struct{}
}

// take handles one message, and waits for nothing.
func (f *front) take(line []byte) {
	head, wrong := jsonrpc.Parse(line)
	switch {
	case wrong != nil:
		f.refuse(jsonrpc.Refusal(wrong.Code, wrong.Message))
	case head.IsRequest():
		f.accept(head, line)
	default:
		f.session.Take(head, line)
	}
}

// accept serves a request, beside others, but after a handshake that came
// before it.
func (f *front) accept(head jsonrpc.Message, line []byte) {
	done, ok := f.pending.add(mcp.MCPMethod(head.Method), len(line))
	if !ok {
		f.refuse(router.Refusal(head, failure.New(failure.SandboxBusy, "Wait until some of yours have been answered, then try again.",
			"too many requests are pending")))
		return
	}
	ctx, end := f.session.Begin(head)
	before := f.shaken
	if head.Method == string(mcp.MethodInitialize) {
		f.shaken = ctx.Done()
	}
	go func() {
		defer done()
		defer end()
		if before != nil {
			select {
			case <-before:
			case <-ctx.Done():
			}
		}
		f.serve(ctx, head, line)
	}()
}

// serve answers a request. What only asks whether the server is there, and a
// request that lasts, need no turn.
func (f *front) serve(ctx context.Context, head jsonrpc.Message, line []byte) {
	worked := ctx
	switch mcp.MCPMethod(head.Method) {
	case mcp.MethodPing, mcp.MethodServerDiscover, mcp.MethodSubscriptionsListen:
	default:
		var end func()
		worked, end = f.turns.begin(ctx)
		defer end()
	}
	response := f.session.Answer(worked, head, line)
	_ = f.out.put(append(response, '\n'), func() bool { return !client.Canceled(ctx) })
}

// write writes a message that is no answer.
func (f *front) write(message []byte) error {
	return f.out.put(append(message, '\n'), func() bool { return true })
}

// refuse answers what is not served.
func (f *front) refuse(message []byte) {
	if f.out.refuse(append(message, '\n')) != nil {
		f.stop()
	}
}
