package docker

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// linesMax is for how many templates containers wait at once.
	linesMax = 4
	// burstMax is how many wait at most for one template, and how many more than
	// one for each template wait at most in all.
	burstMax = 5
	// burstBytes is how much memory the machine of the engine has to have for each
	// that waits for one template.
	burstBytes = 1 << 30
	// burstLife is how long what is more than one for a template waits, and
	// warmLife how long the last one does.
	burstLife = time.Minute
	warmLife  = 10 * time.Minute
	// startsAhead is how many are started ahead at once. Of two processors one
	// would stay idle where there is one, and more would wait for each other.
	startsAhead = 2
	// quiet is how long nobody has found a container that was ready, when the next
	// one is started ahead: the runs of a burst need the processors themselves.
	quiet = 50 * time.Millisecond
)

// pool starts containers ahead, of the templates of the latest runs, because the
// next one will most likely have the same: skill and workspace are bound when a
// container is created. For each template there are as many as it has lately
// had runs that had to wait for theirs. It never holds up a run.
type pool struct {
	backend  *Backend
	most     int             // how many lines there are at most
	burst    int             // how many containers wait in one at most
	ctx      context.Context // ends at close
	cancel   context.CancelFunc
	starting chan struct{}
	work     sync.WaitGroup

	mu     sync.Mutex
	closed bool
	lines  []*line   // the one that was used last at the end
	found  time.Time // when a run last had a container that was ready
}

// line is what waits for runs with one template.
type line struct {
	template template
	wanted   int
	waiting  []*warm // oldest first
}

// warm is a container that is started, or is about to be.
type warm struct {
	template  template
	start     sync.Once     // or keeps it from being started
	started   chan struct{} // closed when it was, or never will be
	container *container    // nil if it was not
	before    *container    // that has to be gone first, or nil
	expiry    *time.Timer
	since     time.Time
}

func newPool(b *Backend) *pool {
	p := &pool{backend: b, most: linesMax, burst: burstMax, starting: make(chan struct{}, startsAhead)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// fit has no more containers wait than an engine's memory is enough for.
func (p *pool) fit(memoryBytes int64) {
	p.burst = int(min(max(memoryBytes/burstBytes, 1), burstMax))
}

// take returns a container that waits with a template, or nil. If all are being
// started it waits for the first of them, which is sooner than another one. No
// other has the changes of the template any more when it returns.
func (p *pool) take(of template) *container {
	p.giveUp(of)
	for first := true; ; first = false {
		w := p.next(of, first)
		if w == nil {
			return nil
		}
		p.start(w)
		switch {
		case w.container == nil:
			return nil
		case w.container.fresh():
			return w.container
		}
		w.container.end()
	}
}

// next takes out of the pool what take is to return: what was started last, so that
// what is not needed becomes old. Where nothing is ready, more is wanted from now
// on, if that is to be counted.
func (p *pool) next(of template, count bool) *warm {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.use(of)
	if l == nil {
		return nil
	}
	ready := -1
	for i, w := range l.waiting {
		if w.ready() {
			ready = i
		}
	}
	switch {
	case ready >= 0:
		p.found = time.Now()
	case count && (len(of.changes()) == 0 || l.wanted == 0): // changes are mounted once
		l.wanted = min(l.wanted+1, p.burst)
	}
	if len(l.waiting) == 0 {
		return nil
	}
	w := l.waiting[max(ready, 0)]
	w.expiry.Stop()
	l.remove(w)
	return w
}

// use returns the line of a template, or nil if no other run can use what would
// wait there. It is the last to be given up.
func (p *pool) use(of template) *line {
	if p.closed || p.most == 0 || of.ephemeral {
		return nil
	}
	l := &line{template: of}
	if i := p.find(of); i >= 0 {
		l = p.lines[i]
		p.lines = slices.Delete(p.lines, i, i+1)
	}
	p.lines = append(p.lines, l)
	if len(p.lines) > p.most {
		unused := p.lines[0]
		p.lines = p.lines[1:]
		for _, w := range unused.waiting {
			p.work.Go(w.discard)
		}
	}
	return l
}

func (p *pool) find(of template) int {
	return slices.IndexFunc(p.lines, func(l *line) bool { return l.template.equal(of) })
}

// giveUp ends the containers of other templates that have changes which one has
// too, since nothing must be mounted twice to be written.
func (p *pool) giveUp(of template) {
	changes := of.changes()
	p.mu.Lock()
	var others []*warm
	p.lines = slices.DeleteFunc(p.lines, func(l *line) bool {
		other := !l.template.equal(of) && slices.ContainsFunc(l.template.changes(), func(dir string) bool { return slices.Contains(changes, dir) })
		if other {
			others = append(others, l.waiting...)
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

// follow has containers started ahead in the place of one of which the program
// runs, unless they would mount the same changes.
func (p *pool) follow(used *container) {
	if len(used.template.changes()) == 0 {
		p.add(used.template, nil)
	}
}

// refill does the same once the program has ended.
func (p *pool) refill(ended *container) {
	if len(ended.template.changes()) == 0 || !p.add(ended.template, ended) {
		ended.end()
	}
}

// add reports whether containers will be started, and another one be gone before.
func (p *pool) add(of template, before *container) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(of)
	if p.closed || i < 0 {
		return false
	}
	added := false
	for l := p.lines[i]; len(l.waiting) < l.wanted && (len(l.waiting) == 0 || p.surplus() < p.burst-1); added = true {
		w := &warm{template: of, before: before, started: make(chan struct{}), since: time.Now()}
		w.expiry = time.AfterFunc(burstLife, func() { p.expire(w) })
		l.waiting = append(l.waiting, w)
		p.work.Go(func() { p.startAhead(w) })
	}
	return added
}

// surplus is how many wait beyond one for each template.
func (p *pool) surplus() (n int) {
	for _, l := range p.lines {
		n += max(len(l.waiting)-1, 0)
	}
	return n
}

// startAhead starts a container when there is nothing better to do.
func (p *pool) startAhead(w *warm) {
	p.awaitQuiet()
	p.starting <- struct{}{}
	defer func() { <-p.starting }()
	if p.ctx.Err() == nil {
		p.start(w)
	}
}

// awaitQuiet returns when no run has found a container that was ready for a while.
func (p *pool) awaitQuiet() {
	for {
		p.mu.Lock()
		rest := quiet - time.Since(p.found)
		p.mu.Unlock()
		if rest <= 0 {
			return
		}
		select {
		case <-p.ctx.Done():
			return
		case <-time.After(rest):
		}
	}
}

// start starts a container, unless that was done before.
func (p *pool) start(w *warm) {
	w.start.Do(func() {
		defer close(w.started)
		if w.before != nil {
			w.before.end()
		}
		var err error
		if w.container, err = p.backend.start(p.ctx, w.template); err != nil {
			p.backend.log.Debug("no container was started ahead", "error", err) // the next run says so
			p.remove(w)
		}
	})
}

// ready reports whether a container was started.
func (w *warm) ready() bool {
	select {
	case <-w.started:
		return true
	default:
		return false
	}
}

// remove takes a container out of the pool and reports whether it was there.
func (p *pool) remove(w *warm) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(w.template)
	return i >= 0 && p.lines[i].remove(w)
}

func (l *line) remove(w *warm) bool {
	before := len(l.waiting)
	l.waiting = slices.DeleteFunc(l.waiting, func(other *warm) bool { return other == w })
	return len(l.waiting) < before
}

// expire ends a container that nobody has used, and of a line that has no other one
// later.
func (p *pool) expire(w *warm) {
	if p.outlived(w) {
		w.discard()
	}
}

// outlived takes a container out of the pool that is not to wait any more, and
// reports whether it is.
func (p *pool) outlived(w *warm) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.find(w.template)
	if i < 0 || !slices.Contains(p.lines[i].waiting, w) {
		return false
	}
	l := p.lines[i]
	if rest := warmLife - time.Since(w.since); len(l.waiting) == 1 && rest > 0 {
		l.wanted = 1
		w.expiry.Reset(rest)
		return false
	}
	l.remove(w)
	l.wanted = len(l.waiting)
	if l.wanted == 0 {
		p.lines = slices.Delete(p.lines, i, i+1)
	}
	return true
}

// discard ends a container that is not in the pool any more, or keeps it from
// being started.
func (w *warm) discard() {
	w.expiry.Stop()
	w.start.Do(func() { close(w.started) })
	if w.container != nil {
		w.container.release()
	}
}

// close ends all containers.
func (p *pool) close() {
	p.cancel()
	p.mu.Lock()
	p.closed = true
	lines := p.lines
	p.lines = nil
	p.mu.Unlock()
	p.work.Wait()
	for _, l := range lines {
		for _, w := range l.waiting {
			w.discard()
		}
	}
}
