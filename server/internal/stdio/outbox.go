package stdio

import (
	"cmp"
	"context"
	"io"
	"sync"
)

// Bounds of what a client has not read yet, in bytes.
const (
	maxOutboxBytes   = 16 << 20
	maxRefusalsBytes = 4 << 20
)

// outbox keeps lines for a client until it reads them, so that the reader of
// its messages waits for no write. What it keeps is bounded.
type outbox struct {
	mu       sync.Mutex
	changed  *sync.Cond
	lines    lineQueue
	refusals lineQueue // which go first, and whose writer cannot wait
	writing  bool
	closed   bool
	err      error // the first
}

// lineQueue is lines in their order.
type lineQueue struct {
	lines [][]byte
	bytes int
}

func (q *lineQueue) add(line []byte) {
	q.lines = append(q.lines, line)
	q.bytes += len(line)
}

// take returns the first line, or nil.
func (q *lineQueue) take() []byte {
	if len(q.lines) == 0 {
		return nil
	}
	line := q.lines[0]
	q.lines[0] = nil
	q.lines = q.lines[1:]
	q.bytes -= len(line)
	return line
}

func newOutbox() *outbox {
	o := &outbox{}
	o.changed = sync.NewCond(&o.mu)
	return o
}

// run writes lines until the outbox is closed and empty, or has failed.
func (o *outbox) run(out io.Writer) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		for !o.closed && o.err == nil && o.empty() {
			o.changed.Wait()
		}
		line := o.refusals.take()
		if line == nil {
			line = o.lines.take()
		}
		if line == nil || o.err != nil {
			return o.err
		}
		o.writing = true
		o.changed.Broadcast()
		o.mu.Unlock()
		_, err := out.Write(line)
		o.mu.Lock()
		o.writing = false
		o.err = cmp.Or(o.err, err)
		o.changed.Broadcast()
	}
}

// put adds a line when there is room for it, if it is wanted then.
func (o *outbox) put(line []byte, wanted func() bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && o.lines.bytes >= maxOutboxBytes {
		o.changed.Wait()
	}
	if o.err == nil && wanted() {
		o.lines.add(line)
		o.changed.Broadcast()
	}
	return o.err
}

// refuse adds a line at once. Where the client has not read too many of them,
// the outbox fails.
func (o *outbox) refuse(line []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.refusals.bytes >= maxRefusalsBytes {
		o.err = cmp.Or(o.err, errNotReading)
	}
	if o.err == nil { // or nothing takes them any more, and the reader goes on
		o.refusals.add(line)
	}
	o.changed.Broadcast()
	return o.err
}

// fail ends the outbox where it is not empty. It returns
// the first error.
func (o *outbox) fail(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.empty() {
		o.err = cmp.Or(o.err, err)
		o.changed.Broadcast()
	}
	return o.err
}

// close ends the outbox when it is empty.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

// flush waits until all lines are written, or the context ends.
func (o *outbox) flush(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.changed.Broadcast()
	})()
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.err == nil && !o.empty() && ctx.Err() == nil {
		o.changed.Wait()
	}
}

// empty reports whether the client has read everything. The lock is held.
func (o *outbox) empty() bool { return !o.writing && len(o.lines.lines)+len(o.refusals.lines) == 0 }
