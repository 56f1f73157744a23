package docker

import (
	"slices"
	"time"
)

// AwaitWarm returns when nothing is being started ahead any more of what was to be
// when it was called.
func (b *Backend) AwaitWarm() {
	b.pool.mu.Lock()
	warm := slices.Clone(b.pool.warm)
	b.pool.mu.Unlock()
	for _, w := range warm {
		b.pool.start(w)
	}
}

// SetAckTimeout replaces how long a container may take nothing.
func (b *Backend) SetAckTimeout(timeout time.Duration) { b.ackTimeout = timeout }

// SetWarmMax replaces how many containers wait at once.
func (b *Backend) SetWarmMax(most int) { b.pool.most = most }

// DoWithoutOverlays has shares shown as where the engine mounts none.
func (b *Backend) DoWithoutOverlays() { b.overlays.known = true }

// CloseIdleConnections ends those to the engine that wait for the next request.
func (b *Backend) CloseIdleConnections() { b.engine.Close() }

// Session is the label of this backend's containers.
func (b *Backend) Session() string { return labelSession + "=" + b.labels[labelSession] }
