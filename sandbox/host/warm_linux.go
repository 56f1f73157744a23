package host

import (
	"errors"
	"sync"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/host/internal/child"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/supervisor"
)

// warmLife is how long a warm supervisor waits for a program: it holds some
// memory.
const warmLife = 5 * time.Minute

// warm keeps one supervisor ready, so that a run need not wait until there is one.
// Each is used once.
type warm struct {
	mu     sync.Mutex
	closed bool
	next   *next
	work   sync.WaitGroup // of starting and dismissing
}

// next is a supervisor that is being started, or waits.
type next struct {
	done   chan struct{}          // closed when it waits
	made   *supervisor.Supervisor // or nil
	expiry *time.Timer
}

// spawn starts a supervisor.
func spawn() (*supervisor.Supervisor, error) {
	return supervisor.Spawn(supervisor.Config{
		Name: child.Name,
		Attr: &syscall.SysProcAttr{Setsid: true}, // out of reach of the terminal's signals
	})
}

// run has a supervisor start a program, and has the next be started meanwhile. A
// warm one that is gone is replaced: anything may have killed it.
func (w *warm) run(order supervisor.Order) (*supervisor.Tree, error) {
	defer w.prepare()
	if ready := w.take(); ready != nil {
		tree, err := ready.Run(order)
		if !errors.Is(err, supervisor.ErrGone) {
			return tree, err
		}
	}
	fresh, err := spawn()
	if err != nil {
		return nil, err
	}
	return fresh.Run(order)
}

// take takes out what is ready or being started, which will be sooner than another.
func (w *warm) take() *supervisor.Supervisor {
	w.mu.Lock()
	taken := w.next
	w.next = nil
	w.mu.Unlock()
	if taken == nil {
		return nil
	}
	<-taken.done
	taken.expiry.Stop()
	return taken.made
}

// prepare has the next supervisor be started, in the background.
func (w *warm) prepare() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.next != nil {
		return
	}
	pending := &next{done: make(chan struct{})}
	pending.expiry = time.AfterFunc(warmLife, func() { w.expire(pending) })
	w.next = pending
	w.work.Go(func() {
		defer close(pending.done)
		pending.made, _ = spawn() // the next run will say why not
	})
}

// expire dismisses a supervisor unless it was taken.
func (w *warm) expire(old *next) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && w.next == old {
		w.next = nil
		w.work.Go(old.dismiss)
	}
}

// close dismisses the next supervisor. Nothing may be run any more.
func (w *warm) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	if last := w.take(); last != nil {
		last.Dismiss()
	}
	w.work.Wait()
}

func (n *next) dismiss() {
	<-n.done
	if n.made != nil {
		n.made.Dismiss()
	}
}
