//go:build !linux

package docker

import "github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"

// volumes returns no overlays: they are for engines with this machine's kernel.
func (b *Backend) volumes(of template) (volumes []engine.Volume, release func(), err error) {
	if len(of.overlays) > 0 {
		return nil, nil, errNoOverlay
	}
	return nil, func() {}, nil
}

// hide is for overlays.
func hide(string) error { return errNoOverlay }
