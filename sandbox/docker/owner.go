package docker

import (
	"context"
	"crypto/rand"
	"os"

	"golang.org/x/sync/errgroup"
)

// The labels of our containers and volumes. Hosts and process ids tell only together
// whether a server is gone, and only on its own machine.
const (
	labelHost    = "skills-mcp.host"    // machine and pid namespace of the server
	labelOwner   = "skills-mcp.owner"   // boot, pid and start time of the server
	labelSession = "skills-mcp.session" // one Backend
)

// newLabels returns those of the containers of one backend.
func newLabels() map[string]string {
	process, _ := processName(os.Getpid()) // without a name it passes for alive
	return map[string]string{labelHost: thisHost(), labelOwner: process, labelSession: rand.Text()}
}

// reap removes what servers of this machine that are gone have left. Failing
// at that is no reason not to start.
func (b *Backend) reap(ctx context.Context) {
	if b.labels[labelHost] == "" { // nothing says here who is gone
		return
	}
	_, err := b.removeLabelled(ctx, labelHost, func(labels map[string]string) bool { return isGone(labels[labelOwner]) })
	if err != nil {
		b.log.Warn("not all containers of earlier servers can be removed", "error", err)
	}
}

// sweep removes all containers of this backend, and the volumes that stayed
// behind.
func (b *Backend) sweep(ctx context.Context) error {
	for {
		removed, err := b.removeLabelled(ctx, labelSession, func(map[string]string) bool { return true })
		if err != nil || removed == 0 {
			return err
		}
	}
}

// removeLabelled removes the containers that have a label like those of this
// backend and meet a condition, and then such volumes, which the engine removes
// with their container unless it is killed. It returns how many there were.
func (b *Backend) removeLabelled(ctx context.Context, label string, meets func(labels map[string]string) bool) (removed int, err error) {
	for _, kind := range []struct {
		list   func(ctx context.Context, label, value string) (map[string]map[string]string, error)
		remove func(ctx context.Context, id string) error
	}{
		{b.engine.List, b.engine.Remove},
		{b.engine.ListVolumes, b.engine.RemoveVolume},
	} {
		listed, err := kind.list(ctx, label, b.labels[label])
		if err != nil {
			return removed, err
		}
		var all errgroup.Group
		for id, labels := range listed {
			if meets(labels) {
				removed++
				all.Go(func() error { return kind.remove(ctx, id) })
			}
		}
		if err := all.Wait(); err != nil {
			return removed, err
		}
	}
	return removed, nil
}
