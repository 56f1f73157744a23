package backends

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// onNeed is a backend that is opened when it is needed first, by whoever needs it;
// the others wait for that.
type onNeed struct {
	open    func() sandbox.Backend
	once    sync.Once
	backend sandbox.Backend
	ready   atomic.Bool // backend is set
}

var _ sandbox.Backend = (*onNeed)(nil)

func (o *onNeed) opened() sandbox.Backend {
	o.once.Do(func() {
		o.backend = o.open()
		o.ready.Store(true)
	})
	return o.backend
}

// Run implements [sandbox.Backend].
func (o *onNeed) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	return o.opened().Run(ctx, spec)
}

// Info describes the backend that was opened.
func (o *onNeed) Info() sandbox.Info { return o.opened().Info() }

// Load is that of the backend's queue; it opens nothing.
func (o *onNeed) Load() (running, waiting int) {
	if !o.ready.Load() {
		return 0, 0
	}
	if queued, ok := o.backend.(interface{ Load() (running, waiting int) }); ok {
		return queued.Load()
	}
	return 0, 0
}

// Close closes the backend if it was ever opened, and keeps it from being opened.
func (o *onNeed) Close() error {
	o.once.Do(func() { o.backend = sandbox.None("the server has ended.") })
	return o.backend.Close()
}
