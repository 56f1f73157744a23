package stdio

import (
	"bytes"
	"errors"
	"testing"
)

// TestOutboxRefusals: what is refused beyond the bound fails the outbox, and is
// not kept, however long the reader goes on.
func TestOutboxRefusals(t *testing.T) {
	t.Parallel()
	o, line := newOutbox(), bytes.Repeat([]byte("x"), 1<<20)
	var err error
	for range 3 * maxRefusalsBytes / len(line) {
		err = o.refuse(line)
	}
	if !errors.Is(err, errNotReading) {
		t.Errorf("beyond the bound: %v", err)
	}
	if o.refusals.bytes > maxRefusalsBytes {
		t.Errorf("%d bytes are kept, of at most %d", o.refusals.bytes, maxRefusalsBytes)
	}
	if err := o.fail(errNotEnding); !errors.Is(err, errNotReading) {
		t.Errorf("it ends with %v", err)
	}
}
