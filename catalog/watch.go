package catalog

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
)

const (
	// debounceQuiet is how long no event must come before a scan begins.
	debounceQuiet = 100 * time.Millisecond
	// debounceMost is how long a scan is put off at most, while events keep
	// coming.
	debounceMost = time.Second
)

// Variables of the package for the tests alone.
var (
	watchLimits = watch.Limits{Watches: 50_000, Poll: 3 * time.Second}
	openSource  = watch.System
)

// ErrWatching is returned by a [Catalog.Watch] beside another.
var ErrWatching = errors.New("the catalog is being watched already")

// Change is the step from one snapshot to the next.
type Change struct {
	Before, After *Snapshot
	// Files are the absolute host paths, sorted, of files of skills that came,
	// went or have another content, and of directories in skills that came or
	// went. A file that was saved as it was is not among them, unless it is
	// larger than 1 MiB. They name a skill's directory where more could not be
	// known.
	Files []string
}

// Watch follows the roots and rescans, debounced, until ctx ends; it returns
// when all that it started is gone. It calls notify, from one goroutine, for
// every change in what the catalog publishes, in its problems and in the files of
// skills, whoever caused the scan; changes that come while notify runs are
// reported as one. Only one Watch may run at a time.
//
// The error is nil when ctx ended, [ErrClosed] or [ErrWatching]. Watching
// itself cannot fail: where the operating system gives too few watches, that
// is a [Problem], and the roots are polled.
func (c *Catalog) Watch(ctx context.Context, notify func(Change)) error {
	switch {
	case c.closed.Load():
		return ErrClosed
	case !c.watching.CompareAndSwap(false, true):
		return ErrWatching
	}
	defer c.watching.Store(false)

	source := openSource
	if c.options.Poll > 0 {
		source = nil
	}
	var roots []string
	for _, root := range c.options.Roots {
		roots = append(roots, root.Path)
	}
	w := watch.New(roots, c.log, watchLimits, source)
	if err := c.setWatcher(ctx, w); err != nil {
		return nil
	}
	defer func() {
		c.setWatcher(context.Background(), nil)
		w.Close()
	}()
	f := &follower{catalog: c, watcher: w, notify: notify, files: watch.NewFiles(c.options.Poll > 0, list)}
	return f.follow(ctx)
}

// setWatcher makes scans add their directories to w.
func (c *Catalog) setWatcher(ctx context.Context, w *watch.Watcher) error {
	if err := c.acquire(ctx); err != nil {
		return err
	}
	defer c.release()
	c.state.watcher = w
	return nil
}

// follower is the loop of one Watch.
type follower struct {
	catalog *Catalog
	watcher *watch.Watcher
	notify  func(Change)
	files   *watch.Files
}

func (f *follower) follow(ctx context.Context) error {
	// What changed before the watches are set is known of entry documents
	// alone, so the files are learned before the scan that sets them.
	f.files.Learn(ctx, f.catalog.Snapshot().dirs())
	if err := f.rescan(ctx); err != nil {
		return ended(ctx, err)
	}
	ticker := time.NewTicker(f.interval())
	defer ticker.Stop()
	debounce := time.NewTimer(0)
	defer debounce.Stop()
	debounce.Stop()
	var latest time.Time // when a scan begins at last; zero while none is due
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-f.watcher.Events:
			if latest.IsZero() {
				latest = time.Now().Add(debounceMost)
			}
			debounce.Reset(min(debounceQuiet, time.Until(latest)))
			continue
		case <-f.catalog.changed:
			f.report(ctx, false) // somebody else scanned
			continue
		case <-debounce.C:
		case <-ticker.C:
			if !f.polling() {
				continue
			}
		}
		latest = time.Time{}
		debounce.Stop()
		if err := f.rescan(ctx); err != nil {
			return ended(ctx, err)
		}
		ticker.Reset(f.interval())
	}
}

// ended turns the end of ctx into no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (f *follower) interval() time.Duration {
	if f.catalog.options.Poll > 0 {
		return f.catalog.options.Poll
	}
	return watchLimits.Poll
}

func (f *follower) polling() bool { return f.catalog.options.Poll > 0 || f.watcher.Limited() }

// rescan scans, and notifies of what changed.
func (f *follower) rescan(ctx context.Context) error {
	if _, err := f.catalog.Rescan(ctx); err != nil {
		return err
	}
	f.report(ctx, f.polling())
	return nil
}

// report notifies of the step to the newest snapshot, and of what changed of
// the files where something may have, or of all, if anything did. Events that
// came since the scan began cause another one.
func (f *follower) report(ctx context.Context, all bool) {
	change := Change{Before: f.catalog.reported, After: f.catalog.Snapshot()}
	same := change.Before.sameSkills(change.After)
	dirs, lost := f.watcher.Take()
	change.Files = f.files.Update(ctx, change.After.dirs(), dirs, all || lost)
	if ctx.Err() != nil {
		return
	}
	f.catalog.reported = change.After
	if !same {
		change.Files = append(change.Files, changedEntries(change.Before, change.After)...)
	}
	slices.Sort(change.Files)
	change.Files = slices.Compact(change.Files)
	if !same || len(change.Files) > 0 || !slices.Equal(change.Before.problems, change.After.problems) {
		f.notify(change)
	}
}
