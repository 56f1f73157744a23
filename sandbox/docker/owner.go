package docker

import (
	"context"
	"crypto/rand"
	"os"

	"golang.org/x/sync/errgroup"
)

// The labels of our containers. Hosts and process ids tell only together
// whether a server is gone, and only on its own machine.
const (
	labelHost    = "skills-mcp.host"    // machine and pid namespace of the server
	labelOwner   = "skills-mcp.owner"   // boot, pid and start time of the server
	labelSession = "skills-mcp.session" // one Backend
)

// owner is who creates containers.
type owner struct{ host, process, session string }

func newOwner() owner {
	process, _ := processName(os.Getpid()) // without a name it passes for alive
	return owner{host: thisHost(), process: process, session: rand.Text()}
}

func (o owner) labels() map[string]string {
	return map[string]string{labelHost: o.host, labelOwner: o.process, labelSession: o.session}
}

// reap removes what servers of this machine that are gone have left. Failing
// at that is no reason not to start.
func (b *Backend) reap(ctx context.Context) {
	if b.owner.host == "" { // nothing says here who is gone
		return
	}
	_, err := b.removeLabelled(ctx, labelHost, b.owner.host, func(labels map[string]string) bool { return isGone(labels[labelOwner]) })
	if err != nil {
		b.log.Warn("not all containers of earlier servers can be removed", "error", err)
	}
}

// sweep removes all containers of this backend.
func (b *Backend) sweep(ctx context.Context) error {
	for {
		removed, err := b.removeLabelled(ctx, labelSession, b.owner.session, func(map[string]string) bool { return true })
		if err != nil || removed == 0 {
			return err
		}
	}
}

// removeLabelled removes the containers with a label that meet a condition, and
// returns how many there were.
func (b *Backend) removeLabelled(ctx context.Context, label, value string, meets func(labels map[string]string) bool) (removed int, err error) {
	listed, err := b.engine.List(ctx, label, value)
	if err != nil {
		return 0, err
	}
	var all errgroup.Group
	for _, c := range listed {
		if meets(c.Labels) {
			removed++
			all.Go(func() error { return b.engine.Remove(ctx, c.ID) })
		}
	}
	return removed, all.Wait()
}
