package request

import (
	"context"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/audit"
)

// noted is a record that what serves a request adds to.
type noted struct {
	mu     sync.Mutex
	record audit.Record
}

type recordKey struct{}

// WithRecord returns the context of a request for which [Note] adds to a record.
// recorded returns what it has come to.
func WithRecord(ctx context.Context, record audit.Record) (with context.Context, recorded func() audit.Record) {
	n := &noted{record: record}
	return context.WithValue(ctx, recordKey{}, n), func() audit.Record {
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.record
	}
}

// Note adds to the record of a request, where there is one, what only those know
// who serve it: the skill, the decision, how a program ended. It is not kept
// beyond note, and may be called by several goroutines.
func Note(ctx context.Context, note func(record *audit.Record)) {
	n, ok := ctx.Value(recordKey{}).(*noted)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	note(&n.record)
}
