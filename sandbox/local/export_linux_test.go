//go:build amd64 || arm64

package local

import (
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// AwaitWarm returns when no warm jail process is being made.
func (b *Backend) AwaitWarm() { b.warm.work.Wait() }

// DoWithoutOverlays has no share shown by an overlay.
func (b *Backend) DoWithoutOverlays() {
	b.AwaitWarm() // which reads it
	b.private = false
}

// DropWarm makes the next run start without a warm jail process.
func (b *Backend) DropWarm() {
	b.AwaitWarm()
	b.warm.mu.Lock()
	ready := b.warm.ready
	b.warm.mu.Unlock()
	if ready == nil {
		return
	}
	b.warm.expire(ready)
	b.AwaitWarm()
}

// Unready has the warm jail process be one that is still being made, until ready is
// called. Claimed reports whether a run waits for it.
func (b *Backend) Unready() (claimed func() bool, ready func()) {
	b.AwaitWarm()
	w := b.warm
	w.mu.Lock()
	defer w.mu.Unlock()
	made := w.ready
	pending := &pendingProcess{bounds: made.bounds, done: make(chan struct{})}
	w.ready, w.pending = nil, pending
	claimed = func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return pending.claimed
	}
	return claimed, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.finish(pending, made)
	}
}

// WarmPID returns the process id of the warm jail process's supervisor, or 0.
func (b *Backend) WarmPID() int {
	b.AwaitWarm()
	b.warm.mu.Lock()
	defer b.warm.mu.Unlock()
	if b.warm.ready == nil {
		return 0
	}
	return b.warm.ready.supervisor.PID()
}

// SystemChanged reports whether replace changes what a snapshot of a file shows.
func SystemChanged(name string, replace func()) (bool, error) {
	s := &system{layout: layout{mounts: []jail.Mount{{Source: name, Target: name}}}}
	before, err := s.snapshot()
	if err != nil {
		return false, err
	}
	defer before.close()
	replace()
	return before.changed(sandbox.Spec{Workspace: filepath.Dir(name)}), nil
}

// LauncherPID returns the process id of what starts jail processes.
func (b *Backend) LauncherPID() int { return b.launcher.PID() }
