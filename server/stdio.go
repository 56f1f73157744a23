package server

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
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
	front := &stdioFront{server: s, stop: cancel, out: newOutbox(), pending: newPending(), notices: client.New(), turns: make(turns, maxTurns), shaken: none}
	listened := front.listen(ctx)
	defer s.subscriptions.Leave(front.notices)
	front.handlers.Go(func() { front.notices.Drain(ctx, front.tell) })
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
		f.server.subscriptions.Join(f.notices, func(string) bool { return session.Initialized() })
		f.session = client.With(ctx, f.notices)
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
			f.refuse(jsonrpc.Message{}, mcp.INVALID_REQUEST, "the message is longer than 16 MiB")
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

// drain waits until all that was read is answered and written, or for as long
// as is due.
func (f *stdioFront) drain(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	f.pending.settle(ctx)
	f.out.flush(ctx)
}
