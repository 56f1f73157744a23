package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

const (
	// maxMessageBytes bounds one message of a client, in bytes.
	maxMessageBytes = 16 << 20
	// drainTimeout is how long requests that were read before the end of
	// input may take to be answered, before they are canceled.
	drainTimeout = 5 * time.Second
	// stopTimeout is how long ending takes at most after that.
	stopTimeout = 2 * time.Second
	// maxTurns is how many requests are worked on side by side, those apart
	// whose programs wait or run.
	maxTurns = 8
)

// ServeStdio serves one client, a JSON-RPC message a line, until the input
// ends or ctx does. At the end of input it answers what it has read, within a
// bound, so that requests can be piped in. Nothing but protocol messages is
// written to out. A Read of in that blocks at the end is left behind: it
// cannot be interrupted. The error is that of in or out; there is one too
// where the server is serving another stdio client.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.expireWorkspaces(ctx)()
	none := make(chan struct{})
	close(none)
	front := &stdioFront{server: s, stop: cancel, out: newOutbox(), pending: newPending(), notices: newNotices(), turns: make(turns, maxTurns), shaken: none}
	listened := front.listen(ctx)
	defer s.subscriptions.leave(front.notices)
	front.handlers.Go(func() { front.notices.drain(ctx, front.tell) })
	written := make(chan struct{})
	go func() {
		defer close(written)
		if front.out.run(out) != nil {
			cancel()
		}
	}()
	var err error
	drains := false
	select {
	case <-front.ready:
		err, drains = front.readAll(ctx, in)
	case err = <-listened: // there is another client
		listened <- nil
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if drains {
			front.drain(ctx)
		}
		cancel()
		front.pending.close()
		front.handlers.Wait()
		front.feed.Close()
		<-listened
		front.out.close()
		<-written
	}()
	select {
	case <-ended:
		return cmp.Or(err, front.out.failure())
	case <-time.After(drainTimeout + stopTimeout):
		if front.out.idle() {
			return errNotEnding
		}
		front.out.fail(errNotReading) // for what waits for room
		return errNotReading
	}
}

// What the end of serving does not wait for is left behind.
var (
	// errNotReading is a client that neither reads nor goes away, so that a
	// write to it never ends.
	errNotReading = errors.New("the client does not read what it was sent")
	errNotEnding  = errors.New("some requests did not end in time when they were canceled")
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
	notices  *notices // of changes that the client is still to be told of
	turns    turns
	handlers sync.WaitGroup
	// shaken closes when the handshake that was read last is over. Only the
	// reader uses it.
	shaken <-chan struct{}

	mu        sync.Mutex
	listeners listeners
}

// listen starts the library, which ends with ctx or feed. The error is sent
// when it has.
func (f *stdioFront) listen(ctx context.Context) chan error {
	var input *io.PipeReader
	input, f.feed = io.Pipe()
	f.ready = make(chan struct{})
	library := mcpserver.NewStdioServer(f.server.mcp)
	mcpserver.WithWorkerPoolSize(1)(library) // it has no calls to work on
	library.SetErrorLogger(slog.NewLogLogger(f.server.log.Handler(), slog.LevelDebug))
	library.SetContextFunc(func(ctx context.Context) context.Context {
		session := mcpserver.ClientSessionFromContext(ctx)
		f.server.subscriptions.join(f.notices, func(string) bool { return session.Initialized() })
		f.session = withNotices(ctx, f.notices)
		close(f.ready)
		return f.session
	})
	listened := make(chan error, 1)
	go func() {
		listened <- library.Listen(ctx, input, f)
		input.Close() // nothing is fed any more
	}()
	return listened
}

// readAll reads until the input or the context ends. It reports whether the
// input did.
func (f *stdioFront) readAll(ctx context.Context, in io.Reader) (err error, drains bool) {
	read := make(chan error, 1)
	go func() { read <- f.read(in) }()
	select {
	case err := <-read:
		return err, true
	case <-ctx.Done():
		return nil, false
	}
}

// read takes messages until the input ends.
func (f *stdioFront) read(in io.Reader) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(reader, maxMessageBytes)
		if tooLong {
			f.refuse(envelope{}, mcp.INVALID_REQUEST, "the message is longer than 16 MiB")
		} else if text := bytes.TrimSpace(line); len(text) > 0 {
			f.take(text)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads up to a newline, but keeps no more than max bytes.
func readLine(reader *bufio.Reader, max int) (line []byte, tooLong bool, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		if len(line)+len(part) > max {
			line, tooLong = nil, true
		}
		if !tooLong {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// take handles one message, and waits for nothing.
func (f *stdioFront) take(line []byte) {
	if !utf8.Valid(line) {
		f.refuse(envelope{}, mcp.PARSE_ERROR, "the message is not UTF-8")
		return
	}
	head, wrong := parseEnvelope(line)
	switch {
	case wrong != nil:
		f.refuse(envelope{}, wrong.code, wrong.message)
	case head.isRequest():
		f.accept(head, line)
	case head.Method == string(mcp.MethodNotificationCancelled):
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(head.Params, &params) == nil && len(params.RequestID) > 0 {
			f.cancel(params.RequestID)
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
func (f *stdioFront) accept(head envelope, line []byte) {
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

// serve answers a request. A ping, and a request that lasts, need no turn.
func (f *stdioFront) serve(ctx context.Context, request *pendingMessage, line []byte) {
	if request.head.Method != string(mcp.MethodPing) && !request.lasts() {
		var end func()
		ctx, end = f.turns.begin(ctx)
		defer end()
	}
	response := f.answer(ctx, request.head, line)
	_ = f.out.put(func() [][]byte {
		if !f.pending.wanted(request) {
			return nil
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.listeners.lines(envelope{ID: request.head.ID}, append(response, '\n'))
	})
}

// answer gives the library's answer to a request, or one without it where the
// request ended before its turn came.
func (f *stdioFront) answer(ctx context.Context, head envelope, line []byte) []byte {
	err := ctx.Err()
	if err == nil {
		var response []byte
		if response, err = f.server.route(ctx, head, line); err == nil {
			return response
		}
		f.server.log.Error("request failed", "method", head.Method, "error", err)
	}
	return refusal(head, asFailure(err))
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
func (f *stdioFront) tell(n notice) error {
	encoded, err := json.Marshal(n.notification(nil))
	if err == nil {
		_, err = f.Write(append(encoded, '\n'))
	}
	return err
}

// Write writes what the library sends by itself: notifications, and requests
// of the server. What it has to say about what was forwarded nobody asked for.
func (f *stdioFront) Write(line []byte) (int, error) {
	var head envelope
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
func (f *stdioFront) refuse(head envelope, code int, message string) {
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
func (f *stdioFront) refuseBusy(head envelope) {
	f.refuseLine(refusal(head, failf(CodeSandboxBusy, "Wait until some of yours have been answered, then try again.",
		"too many requests are pending")))
}

func (f *stdioFront) refuseLine(line []byte) {
	if err := f.out.refuse(append(line, '\n')); err != nil {
		f.out.fail(err)
		f.stop()
	}
}

// refusal is the answer to a request that the library has no part in.
func refusal(head envelope, failure *failure) []byte {
	answer := map[string]any{"jsonrpc": mcp.JSONRPC_VERSION, "id": head.ID}
	if head.Method == string(mcp.MethodToolsCall) {
		// Required from protocol version 2026-07-28 on, ignored before.
		answer["result"] = map[string]any{"resultType": mcp.ResultTypeComplete, "content": failure.toolResult().Content, "isError": true}
	} else {
		answer["error"] = failure.rpcError()
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		return []byte("{}") // of parts that were JSON
	}
	return encoded
}

// idKey is equal for a request and its response or cancellation, in which the
// id may be written differently.
func idKey(id json.RawMessage) string {
	var value any
	if json.Unmarshal(id, &value) != nil {
		return string(id)
	}
	return fmt.Sprintf("%T %v", value, value)
}

// drain waits until all that was read is answered and written, or for as long
// as is due.
func (f *stdioFront) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	f.pending.settle(ctx)
	f.out.flush(ctx)
}
