package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
)

const (
	// quietLeast and quietMost are how long no event must come before changes are
	// looked at: longer each time, while they keep coming. The least is for a
	// file that was emptied to be written.
	quietLeast, quietMost = 10 * time.Millisecond, 100 * time.Millisecond
	// burstGap is how long after a look no event must come until changes are no
	// more part of the same burst: longer than the longest quiet, and shorter than an
	// author takes from one save to the next.
	burstGap = 3 * quietMost
	// debounceMost is how long a look is put off at most, while events keep
	// coming.
	debounceMost = time.Second
)

// debounce says when to look at changes: soon at a lone one, and seldom where one
// follows the other.
type debounce struct {
	quiet  time.Duration
	looked time.Time // when changes were last looked at
	latest time.Time // when they are to be at last; zero while there are none
}

// event returns how long to wait after an event.
func (d *debounce) event(now time.Time) time.Duration {
	if d.latest.IsZero() {
		d.latest = now.Add(debounceMost)
		d.quiet = min(2*d.quiet, quietMost)
		if now.Sub(d.looked) > burstGap {
			d.quiet = quietLeast
		}
	}
	return min(d.quiet, d.latest.Sub(now))
}

// look notes that changes are looked at.
func (d *debounce) look(now time.Time) { d.looked, d.latest = now, time.Time{} }

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

// setWatcher makes scans add their directories to w. What others watched is not
// known to it.
func (c *Catalog) setWatcher(ctx context.Context, w *watch.Watcher) error {
	if err := c.acquire(ctx); err != nil {
		return err
	}
	defer c.release()
	if c.state.watcher != nil {
		c.state.tops = nil
	}
	c.state.watcher = w
	return nil
}

// follower is the loop of one Watch.
type follower struct {
	catalog *Catalog
	watcher *watch.Watcher
	notify  func(Change)
	files   *watch.Files
	learned *Snapshot // of whose skills files are known
	scanned time.Time // when everything that is polled was last looked at
}

func (f *follower) follow(ctx context.Context) error {
	// What changed before the watches are set is known of entry documents
	// alone, so the files are learned before the scan that sets them.
	learned := f.catalog.Snapshot()
	f.files.Learn(ctx, learned.dirs())
	f.learned = learned
	if err := f.rescan(ctx); err != nil {
		return ended(ctx, err)
	}
	var d debounce
	due, poll := time.NewTimer(0), time.NewTimer(0)
	defer due.Stop()
	defer poll.Stop()
	due.Stop()
	f.rest(poll)
	for {
		look := f.update
		select {
		case <-ctx.Done():
			return nil
		case <-f.watcher.Events:
			due.Reset(d.event(time.Now()))
			continue
		case <-f.catalog.changed:
			f.report(ctx, false) // somebody else scanned
			continue
		case <-due.C:
		case <-poll.C:
			look = f.poll
		}
		d.look(time.Now())
		due.Stop()
		if err := look(ctx); err != nil {
			return ended(ctx, err)
		}
		f.rest(poll)
	}
}

// rest sets when everything is to be scanned next, if that is to be at all.
func (f *follower) rest(poll *time.Timer) {
	if poll.Stop(); f.polling() {
		interval := cmp.Or(f.catalog.options.Poll, watchLimits.Poll)
		poll.Reset(time.Until(f.scanned.Add(interval)))
	}
}

// ended turns the end of ctx into no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (f *follower) polling() bool { return f.catalog.options.Poll > 0 || f.watcher.Limited() }

// rescan scans everything, and notifies of what changed.
func (f *follower) rescan(ctx context.Context) error {
	if _, err := f.catalog.Rescan(ctx); err != nil {
		return err
	}
	f.scanned = time.Now()
	f.report(ctx, f.polling())
	return nil
}

// poll looks at what no event tells of.
func (f *follower) poll(ctx context.Context) error {
	if f.catalog.options.Poll > 0 {
		return f.rescan(ctx)
	}
	f.scanned = time.Now()
	return f.look(ctx, true)
}

// update looks at what events told of, and notifies of what changed.
func (f *follower) update(ctx context.Context) error { return f.look(ctx, false) }

func (f *follower) look(ctx context.Context, poll bool) error {
	enough, err := f.catalog.update(ctx, poll)
	if err != nil {
		return err
	}
	if !enough {
		return f.rescan(ctx)
	}
	f.report(ctx, false)
	return nil
}

// report notifies of the step to the newest snapshot, and of what changed of
// the files where something may have, or of all, if anything did. Events that
// came since the scan began cause another one.
func (f *follower) report(ctx context.Context, all bool) {
	change := Change{Before: f.catalog.reported, After: f.catalog.Snapshot()}
	difference := change.Before.difference(change.After)
	if f.learned != change.Before { // others scanned before the files were learned
		known := f.learned.difference(change.After)
		difference.came, difference.went = known.came, known.went
	}
	dirs, lost := f.watcher.Take()
	change.Files = f.files.Update(ctx, difference.came, difference.went, dirs, all || lost)
	if ctx.Err() != nil {
		return
	}
	f.catalog.reported, f.learned = change.After, change.After
	change.Files = append(change.Files, difference.entries...)
	slices.Sort(change.Files)
	change.Files = slices.Compact(change.Files)
	if len(change.Files) > 0 || !slices.Equal(change.Before.problems, change.After.problems) {
		f.notify(change)
	}
}
