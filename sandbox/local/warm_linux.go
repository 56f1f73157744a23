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
	pending *pendingProcess // nil where none is being made
	work    sync.WaitGroup  // of making and dismissing
}

// pendingProcess is a jail process that is being made.
type pendingProcess struct {
	bounds  [3]int64
	claimed bool          // a run waits for it
	done    chan struct{} // closed when made is there, or nil
	made    *warmProcess
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

// take returns a jail process for a run, and reports whether it was ready. One that
// is being made will be sooner than another.
func (w *warm) take(spec sandbox.Spec) (p *jailProcess, ready bool, err error) {
	found, pending := w.remove(boundsOf(spec.Limits))
	if pending != nil {
		<-pending.done
		found = pending.made
	}
	if found != nil && found.bounds == boundsOf(spec.Limits) && !found.snapshot.changed(spec) {
		found.release()
		return found.jailProcess, true, nil
	}
	if found != nil {
		w.work.Go(found.dismiss)
	}
	p, err = w.system.newJailProcess(spec.Limits)
	return p, false, err
}

// remove takes out what is ready, if anything, else what is being made with such
// bounds and nobody waits for.
func (w *warm) remove(bounds [3]int64) (*warmProcess, *pendingProcess) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if found := w.ready; found != nil {
		w.ready = nil
		return found, nil
	}
	if w.pending == nil || w.pending.claimed || w.pending.bounds != bounds {
		return nil, nil
	}
	w.pending.claimed = true
	return nil, w.pending
}

// prepare makes the next jail process ready, in the background.
func (w *warm) prepare(limits sandbox.Limits) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.ready != nil || w.pending != nil {
		return
	}
	pending := &pendingProcess{bounds: boundsOf(limits), done: make(chan struct{})}
	w.pending = pending
	w.work.Go(func() {
		made, err := w.make(limits)
		if err != nil {
			made = nil // the next run will say why
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.finish(pending, made)
	})
}

// finish has a jail process be ready, or gives it to the run that waits for it. The
// lock is held.
func (w *warm) finish(pending *pendingProcess, made *warmProcess) {
	w.pending = nil
	if pending.claimed || made == nil {
		pending.made = made
	} else {
		w.ready = made
		made.expiry = time.AfterFunc(warmLife, func() { w.expire(made) })
	}
	close(pending.done)
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
	w.work.Wait() // nothing is being made then
	if last, _ := w.remove([3]int64{}); last != nil {
		last.dismiss()
	}
}

// release lets go of what is for one that waits.
func (p *warmProcess) release() {
	if p.expiry != nil { // else a run has waited for it
		p.expiry.Stop()
	}
	p.snapshot.close()
}

func (p *warmProcess) dismiss() {
	p.release()
	p.jailProcess.dismiss()
}
