package catalog

import (
	"time"

	"github.com/fsnotify/fsnotify"
)

// The bounds of a scan are too wide for a test to reach with real files.

// NarrowScan sets tighter bounds and gives what sets them back.
func NarrowScan(depth, dirs, entries, skills int) (restore func()) {
	old := scanBounds
	scanBounds = bounds{depth, dirs, entries, skills}
	return func() { scanBounds = old }
}

// NarrowWatch sets tighter bounds on watched directories and on changed
// files kept apart, and a shorter time between fallback polls. It gives what
// sets them back.
func NarrowWatch(watches, pending int, poll time.Duration) (restore func()) {
	oldWatches, oldPending, oldPoll := maxWatches, maxPending, fallbackPoll
	maxWatches, maxPending, fallbackPoll = watches, pending, poll
	return func() { maxWatches, maxPending, fallbackPoll = oldWatches, oldPending, oldPoll }
}

// Overflow plays the loss of events that a full queue of the operating
// system makes. The catalog must be watched.
func Overflow(c *Catalog) {
	c.scanning <- struct{}{}
	defer func() { <-c.scanning }()
	c.state.watcher.failed(fsnotify.ErrEventOverflow)
}
