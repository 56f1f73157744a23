package docker

import (
	"context"
	"crypto/rand"
	"io"
	"sync"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// drainPatience is how long the streams of a container that is gone may take
// to end.
const drainPatience = 5 * time.Second

// tree is a program in a container, with all its processes.
type tree struct {
	container *container
	reply     *reply
	copied    chan struct{} // closed when nothing more comes
	written   chan struct{} // closed when nothing more is written
	toKill    chan struct{} // closed by Kill
	killOnce  sync.Once
}

// hand hands an order over, and has the program's output written to two
// writers that do not fail.
func (c *container) hand(order handover.Order, stdin []byte, stdout, stderr io.Writer) *tree {
	rand.Read(order.Nonce[:]) // never fails
	order.StdinBytes = uint64(len(stdin))
	t := &tree{
		container: c,
		reply:     newReply(order.Nonce[:], stdout, stderr),
		copied:    make(chan struct{}),
		written:   make(chan struct{}),
		toKill:    make(chan struct{}),
	}
	go func() {
		defer close(t.written)
		if _, err := c.streams.conn.Write(order.Encode()); err == nil {
			c.streams.conn.Write(stdin) // a program need not read it all
		}
	}()
	go func() {
		defer close(t.copied)
		c.streams.copyTo(writerFunc(t.reply.writeStdout), writerFunc(t.reply.writeStderr)) // an error says no more than the missing report
	}()
	return t
}

// started waits until the container has the order, and tells whether it will
// ever have it.
func (t *tree) started(ctx context.Context) bool {
	select {
	case <-t.reply.acked:
	case <-ctx.Done():
	case <-t.copied:
	}
	select {
	case <-t.reply.acked:
		return true
	default:
		return false
	}
}

// Kill implements [process.Tree].
func (t *tree) Kill() { t.killOnce.Do(func() { close(t.toKill) }) }

// Wait implements [process.Tree].
func (t *tree) Wait() (process.Ending, error) {
	report, killed := t.end()
	t.container.backend.pool.refill(t.container.place)
	if report == nil { // the whole container was killed, by whomever
		return process.Ending{Signal: "SIGKILL", Killed: killed}, nil
	}
	if report.Errno != 0 {
		return process.Ending{}, process.StartFailed(syscall.Errno(report.Errno))
	}
	ending := process.Ending{
		Code:            int(report.Code),
		Signal:          report.Signal(),
		Killed:          report.Killed,
		CPUTime:         time.Duration(report.CPUNanos),
		PeakMemoryBytes: report.PeakMemoryBytes,
		// The kernel kills one process for want of memory, and the program
		// suffers from that if it was not the program itself.
		OutOfMemory: report.OOMKills > 0 && report.Code != 0 && !report.Killed,
	}
	if report.Killed { // it may have come to its end all the same
		ending.Code, ending.Signal = 0, "SIGKILL"
	}
	return ending, nil
}

// end returns when no process of the program is left. The report is nil if the
// container was killed before it could tell.
func (t *tree) end() (report *handover.Report, killed bool) {
	select {
	case <-t.copied:
	case <-t.toKill:
		killed = true
		t.container.backend.remove(t.container.id)
		select {
		case <-t.copied:
		case <-time.After(drainPatience):
		}
	}
	t.container.release()
	<-t.copied
	<-t.written
	t.reply.flush()
	return t.reply.stderr.report(), killed
}
