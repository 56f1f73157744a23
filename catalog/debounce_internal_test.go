package catalog

import (
	"testing"
	"time"
)

// TestDebounce: saves of an author are looked at soon, however often they come, and
// what follows sooner is gathered.
func TestDebounce(t *testing.T) {
	t.Parallel()
	start := time.Unix(1_000_000_000, 0)
	for name, test := range map[string]struct {
		apart time.Duration
		want  time.Duration // from an event to the look, in the end
	}{
		"saves of an author":    {500 * time.Millisecond, quietLeast},
		"a checkout, a copy":    {20 * time.Millisecond, quietMost},
		"one write after a bit": {150 * time.Millisecond, quietMost},
	} {
		var d debounce
		var got time.Duration
		for now := start; now.Before(start.Add(5 * time.Second)); now = now.Add(test.apart) {
			if got = d.event(now); got < test.apart {
				d.look(now.Add(got))
			}
		}
		if test.apart > quietMost && got != test.want || got > quietMost || d.quiet != test.want {
			t.Errorf("%s: %v after an event, and %v of quiet, want %v", name, got, d.quiet, test.want)
		}
	}
}

// TestDebounceEnds: a stream that never pauses is looked at all the same.
func TestDebounceEnds(t *testing.T) {
	t.Parallel()
	var d debounce
	start := time.Unix(1_000_000_000, 0)
	for now := start; ; now = now.Add(time.Millisecond) {
		wait := d.event(now)
		if now.Sub(start) > debounceMost {
			t.Fatal("it is put off for ever")
		}
		if wait <= 0 {
			return
		}
	}
}
