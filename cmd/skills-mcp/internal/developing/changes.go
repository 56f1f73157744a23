package developing

import (
	"context"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// changes are what happened since a round began. One that comes while that round is
// at work interrupts it.
type changes struct {
	came chan struct{} // holds a token while there are any

	mu        sync.Mutex
	files     []string
	interrupt context.CancelFunc
}

func newChanges() *changes { return &changes{came: make(chan struct{}, 1), interrupt: func() {}} }

// add is called with each change of the catalog.
func (c *changes) add(change catalog.Change) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files = append(c.files, change.Files...)
	select {
	case c.came <- struct{}{}:
	default:
	}
	c.interrupt()
}

// take begins a round: it returns the files that changed until now, and a context
// that ends with the next change.
func (c *changes) take(ctx context.Context) (context.Context, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupt()
	select {
	case <-c.came:
	default:
	}
	files := c.files
	c.files = nil
	ctx, c.interrupt = context.WithCancel(ctx)
	return ctx, files
}
