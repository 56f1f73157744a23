package docker

import (
	"bytes"
	"errors"
	"io"
	"sync/atomic"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// earlyBytes is how much of standard error may overtake the beginning of
// standard output inside the engine.
const earlyBytes = 16 << 20

// reply takes what a container writes after an order, as package protocol has
// it, and passes on the two streams of the program. It is for one goroutine;
// only acked, ended and said are for all.
type reply struct {
	onAck          func()        // called when the container has the order
	acked          atomic.Bool   // it has
	ended          chan struct{} // closed when the program's standard output is there
	said           atomic.Int64  // bytes so far
	stdout, stderr stream
	encoded        bytes.Buffer // the report
	early          []byte       // standard error before that
}

// newReply returns a reply for an order. The writers do not fail; files is for
// the files that come back.
func newReply(nonce string, onAck func(), stdout, stderr, files io.Writer) *reply {
	r := &reply{onAck: onAck, ended: make(chan struct{})}
	r.stdout = stream{mark: []byte(nonce), parts: []io.Writer{stdout, files}}
	r.stderr = stream{mark: []byte(nonce), parts: []io.Writer{stderr, &r.encoded}}
	return r
}

// errReplied stops the copying of streams that are complete.
var errReplied = errors.New("both streams are complete")

// errNoReply stops the copying of what no entry program writes.
var errNoReply = errors.New("the container does not speak the protocol of this version")

// writeStdout takes the next part of the standard output.
func (r *reply) writeStdout(p []byte) (int, error) {
	n := len(p)
	r.said.Add(int64(n))
	if n > 0 && !r.acked.Load() {
		if p[0] != protocol.Ack {
			return 0, errNoReply
		}
		r.acked.Store(true)
		r.onAck()
		r.stderr.write(r.early) // the engine keeps no order between the streams
		p = p[1:]
	}
	before := len(r.stdout.parts)
	r.stdout.write(p)
	if before == 2 && len(r.stdout.parts) < before {
		close(r.ended)
	}
	return n, r.end()
}

// writeStderr takes the next part of the standard error.
func (r *reply) writeStderr(p []byte) (int, error) {
	r.said.Add(int64(len(p)))
	if !r.acked.Load() {
		if len(r.early)+len(p) > earlyBytes {
			return 0, errNoReply
		}
		r.early = append(r.early, p...)
		return len(p), nil
	}
	r.stderr.write(p)
	return len(p), r.end()
}

func (r *reply) end() error {
	switch {
	case r.encoded.Len() > protocol.MaxReportBytes:
		return errNoReply
	case r.stdout.done() && r.stderr.done():
		return errReplied
	}
	return nil
}

// close ends both streams once nothing can follow, and returns the report, or
// nil where it is not whole.
func (r *reply) close() *protocol.Report {
	r.stdout.flush()
	r.stderr.flush()
	report := new(protocol.Report)
	if !r.stderr.done() || wire.Receive(&r.encoded, report) != nil {
		return nil
	}
	return report
}

// writerFunc is a function as [io.Writer].
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
