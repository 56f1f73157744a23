package docker

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// sparesMax is how many containers wait at once, one for each place.
	sparesMax = 4
	// spareLife is how long one waits.
	spareLife = 10 * time.Minute
)

// pool starts containers ahead, at the places of the latest runs, because the
// next one will most likely be there too: skill and workspace are bound when a
// container is created. It starts one at a time and never holds up a run.
type pool struct {
	backend *Backend
	ctx     context.Context // ends at close
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	spares  []*spare // oldest first
	wanted  []place  // latest last
	working bool
}

// spare is a container that is started, or is about to be.
type spare struct {
	place     place
	ready     chan struct{} // closed when container is set
	container *container    // nil if it could not be started
	expiry    *time.Timer
}

func newPool(b *Backend) *pool {
	p := &pool{backend: b}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// take gives the container that waits at a place, or nil. If one is being
// started it waits for that, which is sooner than another one.
func (p *pool) take(ctx context.Context, at place) *container {
	p.mu.Lock()
	i := slices.IndexFunc(p.spares, func(s *spare) bool { return s.place == at })
	if i < 0 {
		p.mu.Unlock()
		return nil
	}
	s := p.spares[i]
	p.spares = slices.Delete(p.spares, i, i+1)
	p.mu.Unlock()
	return s.claim(ctx)
}

// claim waits for a spare that is not in the pool any more.
func (s *spare) claim(ctx context.Context) *container {
	if s.expiry != nil {
		s.expiry.Stop()
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		<-s.ready // not long: starting is bounded, and nobody else would release it
	}
	if s.container != nil && !s.container.fresh() {
		s.container.release()
		return nil
	}
	return s.container
}

// refill asks for a container at a place.
func (p *pool) refill(at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || slices.ContainsFunc(p.spares, func(s *spare) bool { return s.place == at }) {
		return
	}
	p.wanted = slices.DeleteFunc(p.wanted, func(w place) bool { return w == at })
	p.wanted = append(p.wanted, at)
	if len(p.wanted) > sparesMax {
		p.wanted = p.wanted[1:]
	}
	if !p.working {
		p.working = true
		p.work.Go(p.fill)
	}
}

// fill starts what is wanted, the latest first.
func (p *pool) fill() {
	for {
		p.mu.Lock()
		n := len(p.wanted)
		if n == 0 || p.closed {
			p.working = false
			p.mu.Unlock()
			return
		}
		s := &spare{place: p.wanted[n-1], ready: make(chan struct{})}
		p.wanted = p.wanted[:n-1]
		s.expiry = time.AfterFunc(spareLife, func() { p.drop(s) })
		p.spares = append(p.spares, s)
		var surplus *spare
		if len(p.spares) > sparesMax {
			surplus, p.spares = p.spares[0], p.spares[1:]
		}
		p.mu.Unlock()
		if surplus != nil {
			surplus.discard()
		}
		var err error
		if s.container, err = p.backend.start(p.ctx, s.place); err != nil {
			p.backend.log.Debug("no container was started ahead", "error", err) // the next run tells
			p.remove(s)
		}
		close(s.ready)
	}
}

// remove takes a spare out of the pool and tells whether it was there.
func (p *pool) remove(s *spare) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.spares, s)
	if i < 0 {
		return false
	}
	p.spares = slices.Delete(p.spares, i, i+1)
	return true
}

// drop ends a spare that nobody has used.
func (p *pool) drop(s *spare) {
	if p.remove(s) {
		s.discard()
	}
}

// discard ends a spare that is not in the pool any more.
func (s *spare) discard() {
	s.expiry.Stop()
	<-s.ready
	if s.container != nil {
		s.container.release()
	}
}

// close ends all spares.
func (p *pool) close() {
	p.cancel()
	p.mu.Lock()
	p.closed = true
	spares := p.spares
	p.spares = nil
	p.mu.Unlock()
	p.work.Wait()
	for _, s := range spares {
		s.discard()
	}
}
