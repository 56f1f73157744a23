//go:build amd64 || arm64

package local

import (
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// spareLife is how long a spare enclosure waits for a program: it holds some
// memory.
const spareLife = 5 * time.Minute

// spares keep one enclosure ready, so that a run need not wait until the kernel
// has made one. Each is used once.
type spares struct {
	system *system

	mu      sync.Mutex
	closed  bool
	ready   *spare
	pending bool           // one is being made
	making  sync.WaitGroup // and dismissing
}

// spare is an enclosure that waits, and what it was made for.
type spare struct {
	*enclosure
	bounds [2]int64
	scene  *scene
	expiry *time.Timer
}

// boundsOf are those limits that an enclosure is made with; the program's
// process gets the others.
func boundsOf(limits sandbox.Limits) [2]int64 {
	return [2]int64{limits.MemoryBytes, int64(limits.Processes)}
}

// take gives an enclosure for a run, and whether it is one that was ready.
func (s *spares) take(spec sandbox.Spec) (e *enclosure, ready bool, err error) {
	s.mu.Lock()
	found := s.ready
	s.ready = nil
	s.mu.Unlock()
	if found != nil && found.bounds == boundsOf(spec.Limits) && !found.scene.changed(spec) {
		found.expiry.Stop()
		found.scene.close()
		return found.enclosure, true, nil
	}
	if found != nil {
		s.making.Go(found.dismiss)
	}
	e, err = s.system.newEnclosure(spec.Limits)
	return e, false, err
}

// prepare makes the next enclosure ready, in the background.
func (s *spares) prepare(limits sandbox.Limits) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.ready != nil || s.pending {
		return
	}
	s.pending = true
	s.making.Go(func() {
		made, err := s.make(limits)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pending = false
		if err == nil { // else the next run will say why
			s.keep(made)
		}
	})
}

func (s *spares) make(limits sandbox.Limits) (*spare, error) {
	scene, err := s.system.look() // first: what changes from now on is noticed
	if err != nil {
		return nil, err
	}
	e, err := s.system.newEnclosure(limits)
	if err != nil {
		scene.close()
		return nil, err
	}
	return &spare{enclosure: e, bounds: boundsOf(limits), scene: scene}, nil
}

// keep has the lock.
func (s *spares) keep(made *spare) {
	s.ready = made
	made.expiry = time.AfterFunc(spareLife, func() { s.expire(made) })
}

// expire dismisses a spare unless it was taken.
func (s *spares) expire(old *spare) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && s.ready == old {
		s.ready = nil
		s.making.Go(old.dismiss)
	}
}

// close dismisses what is ready and waits for what is being made or ended.
func (s *spares) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.making.Wait()
	s.mu.Lock()
	last := s.ready
	s.ready = nil
	s.mu.Unlock()
	if last != nil {
		last.dismiss()
	}
}

// dismiss ends a spare that nobody is to use.
func (s *spare) dismiss() {
	s.expiry.Stop()
	s.scene.close()
	s.enclosure.dismiss()
}
