//go:build amd64 || arm64

package local

import (
	"path/filepath"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local/internal/jail"
)

// AwaitSpare returns when no spare enclosure is being made.
func (b *Backend) AwaitSpare() { b.spares.making.Wait() }

// DropSpare makes the next run start without a spare enclosure.
func (b *Backend) DropSpare() {
	b.AwaitSpare()
	b.spares.mu.Lock()
	ready := b.spares.ready
	b.spares.mu.Unlock()
	if ready == nil {
		return
	}
	b.spares.expire(ready)
	b.AwaitSpare()
}

// Spare gives the process id of the spare enclosure's supervisor, or 0.
func (b *Backend) Spare() int {
	b.AwaitSpare()
	b.spares.mu.Lock()
	defer b.spares.mu.Unlock()
	if b.spares.ready == nil {
		return 0
	}
	return b.spares.ready.supervisor.PID()
}

// SystemChanged tells whether replace changes what a scene of a file shows.
func SystemChanged(name string, replace func()) (bool, error) {
	s := &system{layout: layout{mounts: []jail.Mount{{Source: name, Target: name}}}}
	before, err := s.look()
	if err != nil {
		return false, err
	}
	defer before.close()
	replace()
	return before.changed(sandbox.Spec{Workspace: filepath.Dir(name)}), nil
}
