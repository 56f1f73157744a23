// Package stdio serves one client over a pair of streams, a JSON-RPC message a
// line. The client is trusted with the machine, but not to read or to send
// little: what it costs is bounded, and it can stall neither the reader nor the
// end.
package stdio

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
	"github.com/skills-mcp/skills-mcp/server/internal/stream"
)

const (
	// drainTimeout is how long requests that were read before the end of
	// input may take to be answered, before they are canceled.
	drainTimeout = 5 * time.Second
	// stopTimeout is how long ending takes at most after that.
	stopTimeout = 2 * time.Second
	// maxTurns is how many requests are worked on side by side, those apart
	// whose programs wait or run.
	maxTurns = 8
)

// What the end of serving does not wait for is left behind.
var (
	// errNotReading is a client that neither reads nor goes away, so that a
	// write to it never ends.
	errNotReading = errors.New("the client does not read what it was sent")
	errNotEnding  = errors.New("some requests did not end in time when they were canceled")
)

// Serve serves a client until the input ends or ctx does, and what was read by
// then is answered within a bound. A Read of in that blocks at the end is left
// behind: it cannot be interrupted. The error is that of in or out; there is
// one too where another client is served.
func Serve(ctx context.Context, rt *router.Router, subs *client.Subscriptions, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &front{stop: cancel, out: newOutbox(), turns: make(turns, maxTurns)}
	session, err := stream.Open(ctx, rt, subs, "stdio", f.write)
	if err != nil {
		return err
	}
	defer session.Close()
	f.session = session
	var notifying sync.WaitGroup
	notifying.Go(session.Run)
	written := make(chan struct{})
	var failed error // of what is written
	go func() {
		defer close(written)
		if failed = f.out.run(out); failed != nil {
			cancel()
		}
	}()
	err, drains := f.readAll(ctx, in)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if drains {
			bound, stop := context.WithTimeout(ctx, drainTimeout)
			f.pending.settle(bound)
			f.out.flush(bound)
			stop()
		}
		cancel()
		f.pending.close()
		notifying.Wait()
		f.out.close()
		<-written
	}()
	select {
	case <-ended:
		return cmp.Or(err, failed)
	case <-time.After(drainTimeout + stopTimeout):
		return cmp.Or(f.out.fail(errNotReading), errNotEnding)
	}
}

// readAll reads until the input or the context ends. It reports whether the
// input did.
func (f *front) readAll(ctx context.Context, in io.Reader) (err error, drains bool) {
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
func (f *front) read(in io.Reader) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(reader, jsonrpc.MaxMessageBytes)
		if tooLong {
			f.refuse(jsonrpc.Refusal(mcp.INVALID_REQUEST, "the message is longer than 16 MiB"))
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
