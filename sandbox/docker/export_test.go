package docker

import "time"

// AwaitWarm returns when nothing is being started ahead any more of what was to be
// when it was called.
func (b *Backend) AwaitWarm() {
	for _, w := range b.pool.all() {
		b.pool.start(w)
	}
}

// SetMemory replaces how much the engine's machine has.
func (b *Backend) SetMemory(bytes int64) { b.pool.fit(bytes) }

// Waiting returns how many containers wait, or are about to.
func (b *Backend) Waiting() int { return len(b.pool.all()) }

// ExpireWarm ends what does not wait longer than the last of a burst may.
func (b *Backend) ExpireWarm() {
	for _, w := range b.pool.all() {
		b.pool.expire(w)
	}
}

func (p *pool) all() (warm []*warm) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		warm = append(warm, l.waiting...)
	}
	return warm
}

// SetAckTimeout replaces how long a container may take nothing.
func (b *Backend) SetAckTimeout(timeout time.Duration) { b.ackTimeout = timeout }

// SetWarmMax replaces for how many templates containers wait at once.
func (b *Backend) SetWarmMax(most int) { b.pool.most = most }

// DoWithoutOverlays has shares shown as where the engine mounts none.
func (b *Backend) DoWithoutOverlays() { b.overlays.known = true }

// MakesNames reports whether the files of names are made here, and not by the engine.
func (b *Backend) MakesNames() bool { return b.names != nil }

// CloseIdleConnections ends those to the engine that wait for the next request.
func (b *Backend) CloseIdleConnections() { b.engine.Close() }

// Session is the label of this backend's containers.
func (b *Backend) Session() string { return labelSession + "=" + b.labels[labelSession] }
