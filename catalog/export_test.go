package catalog

import (
	"context"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
)

// The bounds of a scan are too wide for a test to reach with real files.

// NarrowScan sets tighter bounds and returns what sets them back.
func NarrowScan(depth, dirs, entries, skills int) (restore func()) {
	old := scanBounds
	scanBounds = bounds{depth, dirs, entries, skills}
	return func() { scanBounds = old }
}

// NarrowWatch sets a tighter bound on watched directories, and a shorter time
// between fallback polls. It returns what sets them back.
func NarrowWatch(watches int, poll time.Duration) (restore func()) {
	old := watchLimits
	watchLimits = watch.Limits{Watches: watches, Poll: poll}
	return func() { watchLimits = old }
}

// Overflow plays the loss of events that a full queue of the operating
// system makes: those of what act does, and others of before. The catalog must
// be watched.
func Overflow(c *Catalog, act func()) {
	c.scanning <- struct{}{}
	defer func() { <-c.scanning }()
	w := c.state.watcher
	w.Take()
	act()
	w.Take()
	w.Lose()
}

// FailWatch plays a source of events that is of no more use.
func FailWatch(c *Catalog) {
	c.scanning <- struct{}{}
	defer func() { <-c.scanning }()
	c.state.watcher.Fail()
}

// WatchByLibrary has catalogs watched as on systems other than Linux. It
// returns what sets that back.
func WatchByLibrary() (restore func()) {
	old := openSource
	openSource = watch.Library
	return func() { openSource = old }
}

// Follow has a catalog watched until ctx ends, with nobody who waits for events:
// update looks at what changed since the last call, and reports whether that was
// enough, or everything has to be scanned.
func Follow(ctx context.Context, c *Catalog) (update func() (enough bool, err error), err error) {
	var roots []string
	for _, root := range c.options.Roots {
		roots = append(roots, root.Path)
	}
	w := watch.New(roots, c.log, watchLimits, openSource)
	context.AfterFunc(ctx, w.Close)
	if err := c.setWatcher(ctx, w); err != nil {
		return nil, err
	}
	_, err = c.Rescan(ctx)
	return func() (bool, error) { return c.update(ctx, false) }, err
}
