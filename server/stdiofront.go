package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
)

// stdioFront stands between a client and the library. Its reader waits for
// nothing but input: each request is served in a goroutine of its own, within
// bounds, and answers go through an outbox. The library has the session, and
// what is about requests of the server.
type stdioFront struct {
	server *Server
	stop   context.CancelFunc
	feed   *io.PipeWriter // to the library
	// session is the library's context of the stdio session, set when ready
	// closes.
	session  context.Context
	ready    chan struct{}
	out      *outbox
	pending  *pending
	notices  *client.Client // of changes that the client is still to be told of
	turns    turns
	handlers sync.WaitGroup
	// shaken closes when the handshake that was read last is over. Only the
	// reader uses it.
	shaken <-chan struct{}

	mu        sync.Mutex
	listeners listeners
}

// take handles one message, and waits for nothing.
func (f *stdioFront) take(line []byte) {
	if !utf8.Valid(line) {
		f.refuse(jsonrpc.Message{}, mcp.PARSE_ERROR, "the message is not UTF-8")
		return
	}
	head, wrong := jsonrpc.Parse(line)
	switch {
	case wrong != nil:
		f.refuse(jsonrpc.Message{}, wrong.Code, wrong.Message)
	case head.IsRequest():
		f.accept(head, line)
	case head.Method == string(mcp.MethodNotificationCancelled):
		if id := jsonrpc.CanceledID(head.Params); id != nil {
			f.cancel(id)
		}
	default:
		f.forward(line)
	}
}

// cancel ends a request, which gets no answer any more.
func (f *stdioFront) cancel(id json.RawMessage) {
	f.pending.cancelID(id)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners.answered(id)
}

// accept serves a request, beside others, but after a handshake that came
// before it.
func (f *stdioFront) accept(head jsonrpc.Message, line []byte) {
	ctx, cancel := context.WithCancel(f.session)
	request := &pendingMessage{head: head, size: len(line), cancel: cancel}
	if !f.pending.add(request) {
		cancel()
		f.refuseBusy(head)
		return
	}
	f.mu.Lock()
	f.listeners.take(head)
	f.mu.Unlock()
	before := f.shaken
	if head.Method == string(mcp.MethodInitialize) {
		f.shaken = ctx.Done()
	}
	f.handlers.Go(func() {
		defer cancel()
		defer f.pending.done(request)
		select {
		case <-before:
		case <-ctx.Done():
		}
		f.serve(ctx, request, line)
	})
}

// serve answers a request. What only asks whether the server is there, and a
// request that lasts, need no turn.
func (f *stdioFront) serve(ctx context.Context, request *pendingMessage, line []byte) {
	switch mcp.MCPMethod(request.head.Method) {
	case mcp.MethodPing, mcp.MethodServerDiscover, mcp.MethodSubscriptionsListen:
	default:
		var end func()
		ctx, end = f.turns.begin(ctx)
		defer end()
	}
	response := f.server.router.Route(ctx, request.head, line)
	_ = f.out.put(func() [][]byte {
		if !f.pending.wanted(request) {
			return nil
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.listeners.lines(jsonrpc.Message{ID: request.head.ID}, append(response, '\n'))
	})
}

// forward passes on what needs no answer to the library. It is lost where too
// much is pending.
func (f *stdioFront) forward(line []byte) {
	message := &pendingMessage{size: len(line)}
	if !f.pending.add(message) {
		return
	}
	f.handlers.Go(func() {
		defer f.pending.done(message)
		_, _ = f.feed.Write(append(line, '\n'))
	})
}

// tell writes a notification.
func (f *stdioFront) tell(n client.Notice) error {
	encoded, err := json.Marshal(n.Message(nil))
	if err == nil {
		_, err = f.Write(append(encoded, '\n'))
	}
	return err
}

// Write writes what the library sends by itself: notifications, and requests
// of the server. What it has to say about what was forwarded nobody asked for.
func (f *stdioFront) Write(line []byte) (int, error) {
	var head jsonrpc.Message
	if err := json.Unmarshal(line, &head); err != nil {
		return 0, err
	}
	if head.Method == "" {
		return len(line), nil
	}
	line = bytes.Clone(line)
	err := f.out.put(func() [][]byte {
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.listeners.lines(head, line)
	})
	return len(line), err
}

// refuse answers what cannot be served.
func (f *stdioFront) refuse(head jsonrpc.Message, code int, message string) {
	var id any
	if len(head.ID) > 0 {
		id = head.ID
	}
	encoded, err := json.Marshal(mcp.NewJSONRPCError(mcp.NewRequestId(id), code, message, nil))
	if err == nil {
		f.refuseLine(encoded)
	}
}

// refuseBusy answers a request for which there is no room.
func (f *stdioFront) refuseBusy(head jsonrpc.Message) {
	f.refuseLine(router.Refusal(head, failure.New(failure.SandboxBusy, "Wait until some of yours have been answered, then try again.",
		"too many requests are pending")))
}

func (f *stdioFront) refuseLine(line []byte) {
	if err := f.out.refuse(append(line, '\n')); err != nil {
		f.out.fail(err)
		f.stop()
	}
}
