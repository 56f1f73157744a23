package docker

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// drainTimeout is how long the streams of a container that is gone may take
// to end.
const drainTimeout = 5 * time.Second

// execution is a program in a container, with all its processes.
type execution struct {
	container *container
	files     Files // nil where directories are shared
	shared    []sandbox.Shared
	reply     *reply
	settled   chan struct{} // closed when the container has the order, or is not waited for
	settle    func()        // closes it
	copied    chan struct{} // closed when nothing more comes
	written   chan struct{} // closed when nothing more is written
	taken     atomic.Int64  // bytes that the engine has taken so far
	killed    chan struct{} // closed by Kill
	kill      func()        // closes it
}

// execute sends an order, with the files that it demands, and has the program's
// output written to two writers that do not fail. Where that is not possible it
// lets go of the container.
func (c *container) execute(order protocol.Order, spec sandbox.Spec, stdout, stderr io.Writer) (*execution, error) {
	order.Nonce, order.StdinBytes = rand.Text(), uint64(len(spec.Stdin))
	x := &execution{container: c, copied: make(chan struct{}), written: make(chan struct{})}
	x.settled, x.settle = signal()
	x.killed, x.kill = signal()
	returned := io.Discard
	if order.Files {
		files, err := c.backend.remote.OpenFiles(spec)
		if err != nil {
			c.release()
			return nil, err
		}
		x.files, returned = files, files
	}
	x.reply = newReply(order.Nonce, x.settle, stdout, stderr, returned)
	go func() {
		defer close(x.written)
		x.write(order, spec.Stdin)
		x.writeKill()
	}()
	go func() {
		defer x.settle()
		defer close(x.copied)
		c.streams.CopyTo(writerFunc(x.reply.writeStdout), writerFunc(x.reply.writeStderr)) // an error says no more than the missing report
	}()
	return x, nil
}

// write writes the order and all that follows it. What goes wrong shows in the
// reply.
func (x *execution) write(order protocol.Order, stdin []byte) {
	conn := writerFunc(func(p []byte) (int, error) {
		n, err := x.container.streams.Conn.Write(p)
		x.taken.Add(int64(n))
		return n, err
	})
	if err := wire.Send(conn, &order); err != nil {
		return
	}
	if _, err := conn.Write(stdin); err != nil {
		return
	}
	if x.files == nil {
		return
	}
	err := x.files.Send(conn)
	if err == nil {
		return
	}
	x.container.release() // which would wait for the rest
	select {
	case <-x.killed: // it was given up
	default:
		x.container.backend.log.Warn("files cannot be sent to a container", "error", err)
	}
}

// signal returns a channel and what closes it, once.
func signal() (chan struct{}, func()) {
	c := make(chan struct{})
	return c, sync.OnceFunc(func() { close(c) })
}

// started waits until the container has the order, and reports whether it will
// ever have it: not if it takes nothing any more.
func (x *execution) started(ctx context.Context) bool {
	defer context.AfterFunc(ctx, x.settle)()
	await(x.settled, &x.taken, x.container.backend.ackTimeout, nil)
	return x.reply.acked.Load()
}

// await waits until a channel is closed, and reports whether it is. It gives up
// at some time, and when a count has not grown for a while.
func await(done <-chan struct{}, count *atomic.Int64, timeout time.Duration, giveUp <-chan time.Time) bool {
	for before := count.Load(); ; {
		select {
		case <-done:
			return true
		case <-giveUp:
			return false
		case <-time.After(timeout):
		}
		now := count.Load()
		if now == before {
			return false
		}
		before = now
	}
}

// Wait implements [process.Tree].
func (x *execution) Wait() (process.Ending, error) {
	report, killed := x.end()
	skipped, lost := x.closeFiles()
	x.container.backend.pool.refill(x.container)
	if report == nil { // the whole container was killed, by any, or its engine is gone
		ending := reaper.Ending{Signal: "SIGKILL", Killed: killed}
		return process.Ending{Ending: ending, Lost: true, ChangesLost: x.files != nil, Shared: x.shared}, nil
	}
	if report.Errno != 0 {
		return process.Ending{}, x.notStarted(report)
	}
	failed := report.Code != 0 || report.Signal != ""
	ending := process.Ending{
		Ending:          report.Ending,
		OverQuota:       report.OverQuota,
		PeakMemoryBytes: report.PeakMemoryBytes,
		// The kernel kills one process for want of memory, and the program
		// suffers from that if it was not the program itself.
		OutOfMemory: report.OOMKills > 0 && failed && !report.Killed,
		ChangesLost: lost,
		Uncollected: skipped,
		Shared:      x.shared,
	}
	if report.Killed { // it may have come to its end all the same
		ending.Code, ending.Signal = 0, "SIGKILL"
	}
	return ending, nil
}

// connect has the program's connections served.
func (x *execution) connect(streams *process.Streams) error {
	if x.container.listener == nil {
		return nil
	}
	err := streams.ServeEgress(x.container.listener)
	if err == nil {
		return nil
	}
	x.abandon()
	return fmt.Errorf("%w: %w", sandbox.ErrUnavailable, err)
}

// abandon lets go of a container of which the program does not matter.
func (x *execution) abandon() {
	x.Kill()
	x.end()
	x.container.end()
	if x.files != nil {
		x.files.Close() // nothing has changed
	}
}

// closeFiles returns when what came back is stored, how much has no place in the
// workspace, and whether something is missing.
func (x *execution) closeFiles() (skipped int, lost bool) {
	if x.files == nil {
		return 0, false
	}
	skipped, err := x.files.Close()
	if err != nil {
		x.container.backend.log.Warn("what a program has changed cannot be brought back", "error", err)
	}
	return skipped, err != nil
}

// notStarted returns the [sandbox.SetupError] for a program that was not.
func (x *execution) notStarted(report *protocol.Report) error {
	errno := syscall.Errno(report.Errno)
	if !report.NotStored {
		return process.StartFailed(errno)
	}
	message := "the files of the skill and of the workspace cannot be stored in the container"
	if errno == syscall.ENOSPC {
		message = "the files of the skill and of the workspace do not fit into the container, where they count as memory"
	}
	hint := "Remove large files from the workspace, or use a new one."
	if slices.ContainsFunc(x.container.template.copies, func(tree engine.Bind) bool { return tree.Target == sandbox.LibraryDir }) {
		hint = "Name one skill, so that not all of them are copied there, or tell the user to start the server without --mount-all. " + hint
	}
	return &sandbox.SetupError{
		Rule:    "files-not-stored",
		Message: message,
		Hint:    hint,
		Err:     errno,
	}
}

// end returns when no process of the program is left, and all has come that is
// to come. The report is nil if the container was killed before it could tell.
func (x *execution) end() (report *protocol.Report, killed bool) {
	select {
	case <-x.copied:
	case <-x.killed:
		killed = true
		if !x.killInside() {
			x.container.backend.remove(x.container.id)
		}
		select {
		case <-x.copied:
		case <-time.After(drainTimeout):
		}
	}
	x.container.release()
	<-x.copied
	<-x.written
	return x.reply.close(), killed
}
