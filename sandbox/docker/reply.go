package docker

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// earlyBytes is how much of standard error may overtake the beginning of
// standard output inside the engine.
const earlyBytes = 16 << 20

// reply takes what a container writes after an order, as package protocol has
// it, and passes on the two streams of the program. It is for one goroutine;
// only acked, ended and said are for all.
type reply struct {
	acked          chan struct{} // closed when the container has the order
	ended          chan struct{} // closed when the program's standard output is there
	said           atomic.Int64  // bytes so far
	begun          bool
	stdout, stderr untilMark
	report         suffix // of standard error
	early          []byte // standard error before that
}

func newReply(nonce []byte, stdout, stderr io.Writer) *reply {
	r := &reply{acked: make(chan struct{}), ended: make(chan struct{}), report: suffix{length: protocol.ReportBytes}}
	r.stdout = untilMark{next: stdout, mark: nonce, behind: &suffix{}}
	r.stderr = untilMark{next: stderr, mark: nonce, behind: &r.report}
	return r
}

// hasAcked tells whether the container has the order.
func (r *reply) hasAcked() bool {
	select {
	case <-r.acked:
		return true
	default:
		return false
	}
}

// expectFiles has the files that come behind the output written to a writer
// that does not fail.
func (r *reply) expectFiles(nonce []byte, files io.Writer) {
	r.stdout.behind = &untilMark{next: files, mark: nonce, behind: &suffix{}}
}

// errReplied stops the copying of streams that are complete.
var errReplied = errors.New("both streams are complete")

// errNoReply stops the copying of what no entry program writes.
var errNoReply = errors.New("the container does not speak the protocol of this version")

// writeStdout takes the next part of the standard output.
func (r *reply) writeStdout(p []byte) (int, error) {
	n := len(p)
	r.said.Add(int64(n))
	if n > 0 && !r.begun {
		if p[0] != protocol.Ack {
			return 0, errNoReply
		}
		r.begun = true
		close(r.acked)
		r.stderr.write(r.early) // the engine keeps no order between the streams
		p = p[1:]
	}
	marked := r.stdout.marked
	r.stdout.write(p)
	if r.stdout.marked && !marked {
		close(r.ended)
	}
	return n, r.end()
}

// writeStderr takes the next part of the standard error.
func (r *reply) writeStderr(p []byte) (int, error) {
	r.said.Add(int64(len(p)))
	if !r.begun {
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
	if r.stdout.done() && r.stderr.done() {
		return errReplied
	}
	return nil
}

// flush ends both streams once nothing can follow.
func (r *reply) flush() {
	r.stdout.flush()
	r.stderr.flush()
}

// writerFunc is a function as [io.Writer].
type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
