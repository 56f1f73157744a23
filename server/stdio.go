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
	// stdioWorkers is how many tool calls run side by side.
	stdioWorkers = 32
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
	input, feed := io.Pipe()
	front := &stdioFront{server: s, out: out, feed: feed, stop: cancel, pending: map[string]int{}, ready: make(chan struct{})}
	front.idle = sync.NewCond(&front.mu)

	library := mcpserver.NewStdioServer(s.mcp)
	mcpserver.WithWorkerPoolSize(stdioWorkers)(library)
	library.SetErrorLogger(slog.NewLogLogger(s.log.Handler(), slog.LevelDebug))
	box := newOutbox()
	defer s.subscriptions.leave(box)
	library.SetContextFunc(func(ctx context.Context) context.Context {
		session := mcpserver.ClientSessionFromContext(ctx)
		s.subscriptions.join(box, func(string) bool { return session.Initialized() })
		front.session = withOutbox(ctx, box)
		close(front.ready)
		return front.session
	})
	front.routes.Go(func() { box.drain(ctx, front.tell) })
	var listening error
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		listening = library.Listen(ctx, input, front)
	}()

	read := make(chan error, 1)
	go func() { read <- front.read(ctx, in) }()
	var err error
	drains := false
	select {
	case err = <-read:
		drains = true
	case <-listened:
		if ctx.Err() == nil {
			err = listening
		}
	case <-ctx.Done():
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if drains {
			front.drain(ctx)
		}
		cancel()
		feed.Close()
		<-listened
		front.routes.Wait()
	}()
	select {
	case <-ended:
		return cmp.Or(err, front.outputError())
	case <-time.After(drainTimeout + stopTimeout):
		return errNotReading
	}
}

// errNotReading is a client that neither reads nor goes away, so that a write
// to it never ends. What writes is left behind.
var errNotReading = errors.New("the client does not read what it was sent")

// stdioFront reads messages before the library does: it refuses what is no
// message, routes what the router owns, and knows what is not answered yet.
type stdioFront struct {
	server *Server
	feed   *io.PipeWriter
	// session is the library's context of the stdio session, set when ready
	// closes.
	session context.Context
	ready   chan struct{}
	routes  sync.WaitGroup
	stop    context.CancelFunc

	mu      sync.Mutex
	out     io.Writer
	broken  error          // of out
	pending map[string]int // unanswered requests by id
	idle    *sync.Cond
	listen  listeners
}

// read forwards messages until the input ends.
func (f *stdioFront) read(ctx context.Context, in io.Reader) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(reader, maxMessageBytes)
		if tooLong {
			f.refuse(mcp.INVALID_REQUEST, "the message is longer than 16 MiB")
		} else if text := bytes.TrimSpace(line); len(text) > 0 {
			if err := f.take(ctx, text); err != nil {
				return nil // the library has stopped reading
			}
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

// take handles one message.
func (f *stdioFront) take(ctx context.Context, line []byte) error {
	if !utf8.Valid(line) {
		f.refuse(mcp.PARSE_ERROR, "the message is not UTF-8")
		return nil
	}
	var head envelope
	if json.Unmarshal(line, &head) == nil && head.isRequest() {
		f.expect(head)
		if isRouted(head.Method) {
			f.route(ctx, head, append([]byte(nil), line...))
			return nil
		}
	}
	_, err := f.feed.Write(append(line, '\n'))
	return err
}

// route answers a routed request, beside others.
func (f *stdioFront) route(ctx context.Context, head envelope, message json.RawMessage) {
	f.routes.Go(func() {
		select {
		case <-f.ready:
		case <-ctx.Done():
			return
		}
		response, err := f.server.route(f.session, head, message)
		if err != nil {
			f.server.log.Error("response cannot be encoded", "error", err)
			return
		}
		if response != nil {
			_, _ = f.Write(append(response, '\n'))
		}
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

// refuse answers what is no request.
func (f *stdioFront) refuse(code int, message string) {
	encoded, err := json.Marshal(mcp.NewJSONRPCError(mcp.NewRequestId(nil), code, message, nil))
	if err == nil {
		_, _ = f.Write(append(encoded, '\n'))
	}
}

// Write writes one message of the library, or of the router, and notes what
// it answers.
func (f *stdioFront) Write(line []byte) (int, error) {
	var head envelope
	if err := json.Unmarshal(line, &head); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.listen.hold(head, line) {
		return len(line), nil
	}
	for _, message := range f.listen.copies(head, line) {
		if _, err := f.out.Write(message); err != nil {
			f.broken = cmp.Or(f.broken, err)
			f.stop() // the library would go on
			return 0, err
		}
	}
	if head.isResponse() {
		f.answered(head.ID)
	}
	return len(line), nil
}

// outputError gives the first error of out.
func (f *stdioFront) outputError() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
}

// answered notes a response; the caller holds the lock.
func (f *stdioFront) answered(id json.RawMessage) {
	f.listen.answered(id)
	key := idKey(id)
	if f.pending[key] > 0 {
		if f.pending[key]--; f.pending[key] == 0 {
			delete(f.pending, key)
		}
		f.idle.Broadcast()
	}
}

// expect notes a request.
func (f *stdioFront) expect(head envelope) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listen.take(head)
	if head.Method != string(mcp.MethodSubscriptionsListen) { // which lasts as long as the client
		f.pending[idKey(head.ID)]++
	}
}

// idKey is equal for a request and its response, which may be spelt
// differently: the library reads an id and writes it anew.
func idKey(id json.RawMessage) string {
	var value any
	if json.Unmarshal(id, &value) != nil {
		return string(id)
	}
	return fmt.Sprintf("%T %v", value, value)
}

// flush waits until the library has taken all lines, some of which it may
// answer though nobody expects it: it reads on only then.
func (f *stdioFront) flush(ctx context.Context) {
	taken := make(chan struct{})
	f.routes.Go(func() {
		defer close(taken)
		_, _ = f.feed.Write([]byte(" ")) // or until feed is closed
	})
	select {
	case <-taken:
	case <-ctx.Done():
	}
}

// drain waits until all that was read is answered, or for as long as is due.
func (f *stdioFront) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	f.flush(ctx)
	defer context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.idle.Broadcast()
	})()
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.pending) > 0 && ctx.Err() == nil {
		f.idle.Wait()
	}
}
