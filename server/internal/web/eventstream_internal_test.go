package web

import (
	"context"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
)

// lateWriter is a response whose deadline takes a while to be set.
type lateWriter struct {
	*httptest.ResponseRecorder
	set atomic.Bool
}

func (w *lateWriter) SetWriteDeadline(time.Time) error {
	time.Sleep(time.Second)
	w.set.Store(true)
	return nil
}

// TestStreamEndsWithItsDeadline: the deadline of a stream that has ended is
// not set later, when another response goes over the connection.
func TestStreamEndsWithItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &lateWriter{ResponseRecorder: httptest.NewRecorder()}
		ctx, end := context.WithCancel(t.Context())
		stream := newEventStream(w)
		stream.carry(ctx, client.New(), nil, end)
		if !w.set.Load() {
			t.Error("the deadline is still to be set")
		}
	})
}
