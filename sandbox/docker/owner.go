package docker

import (
	"context"
	"crypto/rand"
	"os"
	"sync"
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
	return owner{host: thisHost(), process: processName(os.Getpid()), session: rand.Text()}
}

func (o owner) labels() map[string]string {
	return map[string]string{labelHost: o.host, labelOwner: o.process, labelSession: o.session}
}

// reap removes what servers of this machine that are gone have left. Failing
// at that is no reason not to start.
func (b *Backend) reap(ctx context.Context) {
	if b.owner.host == "" { // nothing tells here who is gone
		return
	}
	listed, err := b.engine.List(ctx, labelHost, b.owner.host)
	if err != nil {
		b.log.Warn("containers of earlier servers cannot be listed", "error", err)
	}
	var all sync.WaitGroup
	for _, c := range listed {
		if !isGone(c.Labels[labelOwner]) {
			continue
		}
		all.Go(func() {
			if err := b.engine.Remove(ctx, c.ID); err != nil {
				b.log.Warn("a container of an earlier server cannot be removed", "container", c.ID, "error", err)
			}
		})
	}
	all.Wait()
}

// sweep removes all containers of this backend.
func (b *Backend) sweep(ctx context.Context) error {
	for {
		listed, err := b.engine.List(ctx, labelSession, b.owner.session)
		if err != nil || len(listed) == 0 {
			return err
		}
		errs := make(chan error, len(listed))
		for _, c := range listed {
			go func() { errs <- b.engine.Remove(ctx, c.ID) }()
		}
		for range listed {
			if removeErr := <-errs; removeErr != nil {
				err = removeErr
			}
		}
		if err != nil {
			return err
		}
	}
}
