package docker

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// warmMax is how many containers wait at once, one for each template.
	warmMax = 4
	// warmLife is how long one waits.
	warmLife = 10 * time.Minute
)

// pool starts containers ahead, of the templates of the latest runs, because the
// next one will most likely have the same: skill and workspace are bound when a
// container is created. It starts one at a time and never holds up a run.
type pool struct {
	backend  *Backend
	most     int             // how many wait at once
	ctx      context.Context // ends at close
	cancel   context.CancelFunc
	starting sync.Mutex
	work     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	warm   []*warm // oldest first
}

// warm is a container that is started, or is about to be.
type warm struct {
	template  template
	start     sync.Once  // or keeps it from being started
	container *container // nil if it was not
	before    *container // that has to be gone first, or nil
	expiry    *time.Timer
}

func newPool(b *Backend) *pool {
	p := &pool{backend: b, most: warmMax}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// take returns the container that waits with a template, or nil. If one is
// being started it waits for that, which is sooner than another one. No other
// has the changes of the template any more when it returns.
func (p *pool) take(of template) *container {
	p.giveUp(of)
	p.mu.Lock()
	i := slices.IndexFunc(p.warm, func(w *warm) bool { return w.template.equal(of) })
	if i < 0 {
		p.mu.Unlock()
		return nil
	}
	w := p.warm[i]
	p.warm = slices.Delete(p.warm, i, i+1)
	p.mu.Unlock()
	w.expiry.Stop()
	p.start(w)
	if w.container != nil && !w.container.fresh() {
		w.container.end()
		return nil
	}
	return w.container
}

// giveUp ends the containers of other templates that have changes which one has
// too, since nothing must be mounted twice to be written.
func (p *pool) giveUp(of template) {
	changes := of.changes()
	p.mu.Lock()
	var others []*warm
	p.warm = slices.DeleteFunc(p.warm, func(w *warm) bool {
		other := !w.template.equal(of) && slices.ContainsFunc(w.template.changes(), func(dir string) bool { return slices.Contains(changes, dir) })
		if other {
			others = append(others, w)
		}
		return other
	})
	p.mu.Unlock()
	for _, w := range others {
		w.discard()
		for _, c := range []*container{w.before, w.container} {
			if c != nil {
				c.end()
			}
		}
	}
}

// refill has a container started ahead in the place of one whose program has
// ended, unless no other run can use it.
func (p *pool) refill(ended *container) {
	if !p.add(ended) {
		ended.end()
	}
}

// add reports whether a container will be started, and the ended one be gone
// before.
func (p *pool) add(ended *container) bool {
	of := ended.template
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.most == 0 || of.ephemeral || slices.ContainsFunc(p.warm, func(w *warm) bool { return w.template.equal(of) }) {
		return false
	}
	w := &warm{template: of, before: ended}
	w.expiry = time.AfterFunc(warmLife, func() { p.drop(w) })
	p.warm = append(p.warm, w)
	if len(p.warm) > p.most {
		oldest := p.warm[0]
		p.warm = p.warm[1:]
		p.work.Go(oldest.discard)
	}
	p.work.Go(func() {
		p.starting.Lock()
		defer p.starting.Unlock()
		p.start(w)
	})
	return true
}

// start starts a container, unless that was done before.
func (p *pool) start(w *warm) {
	w.start.Do(func() {
		var err error
		w.before.end()
		if w.container, err = p.backend.start(p.ctx, w.template); err != nil {
			p.backend.log.Debug("no container was started ahead", "error", err) // the next run says so
			p.remove(w)
		}
	})
}

// remove takes a container out of the pool and reports whether it was there.
func (p *pool) remove(w *warm) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := len(p.warm)
	p.warm = slices.DeleteFunc(p.warm, func(other *warm) bool { return other == w })
	return len(p.warm) < before
}

// drop ends a container that nobody has used.
func (p *pool) drop(w *warm) {
	if p.remove(w) {
		w.discard()
	}
}

// discard ends a container that is not in the pool any more, or keeps it from
// being started.
func (w *warm) discard() {
	w.expiry.Stop()
	w.start.Do(func() {})
	if w.container != nil {
		w.container.release()
	}
}

// close ends all containers.
func (p *pool) close() {
	p.cancel()
	p.mu.Lock()
	p.closed = true
	warm := p.warm
	p.warm = nil
	p.mu.Unlock()
	p.work.Wait()
	for _, w := range warm {
		w.discard()
	}
}
