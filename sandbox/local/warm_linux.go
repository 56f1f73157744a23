//go:build amd64 || arm64

package local

import (
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// warmLife is how long a warm jail process waits for a program: it holds some
// memory.
const warmLife = 5 * time.Minute

// warm keeps one jail process ready, so that a run need not wait until the
// kernel has made one. Each is used once.
type warm struct {
	system *system

	mu      sync.Mutex
	closed  bool
	ready   *warmProcess
	pending bool           // one is being made
	work    sync.WaitGroup // of making and dismissing
}

// warmProcess is a jail process that waits, and what it was made for.
type warmProcess struct {
	*jailProcess
	bounds   [3]int64
	snapshot *snapshot
	expiry   *time.Timer
}

// boundsOf returns those limits that a jail process is made with; the program's
// process gets the others.
func boundsOf(limits sandbox.Limits) [3]int64 {
	return [3]int64{limits.MemoryBytes, int64(limits.Processes), int64(limits.MilliCPUs)}
}

// take returns a jail process for a run, and reports whether it was ready.
func (w *warm) take(spec sandbox.Spec) (p *jailProcess, ready bool, err error) {
	found := w.remove()
	if found != nil && found.bounds == boundsOf(spec.Limits) && !found.snapshot.changed(spec) {
		found.expiry.Stop()
		found.snapshot.close()
		return found.jailProcess, true, nil
	}
	if found != nil {
		w.work.Go(found.dismiss)
	}
	p, err = w.system.newJailProcess(spec.Limits)
	return p, false, err
}

// remove takes out what is ready, or returns nil.
func (w *warm) remove() *warmProcess {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := w.ready
	w.ready = nil
	return found
}

// prepare makes the next jail process ready, in the background.
func (w *warm) prepare(limits sandbox.Limits) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.ready != nil || w.pending {
		return
	}
	w.pending = true
	w.work.Go(func() {
		made, err := w.make(limits)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pending = false
		if err == nil { // else the next run will say why
			w.ready = made
			made.expiry = time.AfterFunc(warmLife, func() { w.expire(made) })
		}
	})
}

func (w *warm) make(limits sandbox.Limits) (*warmProcess, error) {
	snapshot, err := w.system.snapshot() // first: what changes from now on is noticed
	if err != nil {
		return nil, err
	}
	p, err := w.system.newJailProcess(limits)
	if err != nil {
		snapshot.close()
		return nil, err
	}
	return &warmProcess{jailProcess: p, bounds: boundsOf(limits), snapshot: snapshot}, nil
}

// expire dismisses a jail process unless it was taken.
func (w *warm) expire(old *warmProcess) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed && w.ready == old {
		w.ready = nil
		w.work.Go(old.dismiss)
	}
}

// close dismisses what is ready and waits for what is being made or ended.
func (w *warm) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.work.Wait()
	if last := w.remove(); last != nil {
		last.dismiss()
	}
}

func (p *warmProcess) dismiss() {
	p.expiry.Stop()
	p.snapshot.close()
	p.jailProcess.dismiss()
}
