package catalog

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	// debounceQuiet is how long no event must come before a scan begins.
	debounceQuiet = 100 * time.Millisecond
	// debounceMost is how long a scan is put off at most, while events keep
	// coming.
	debounceMost = time.Second
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
// every change in what the catalog publishes and in the files of skills,
// whoever caused the scan; changes that come while notify runs are told as
// one. A new problem alone is no change. Only one Watch may run at a time.
//
// The error is nil when ctx ended, [ErrClosed] or [ErrWatching]. Watching
// itself cannot fail: where the operating system gives too few watches, that
// is a [Problem], and the roots are polled.
func (c *Catalog) Watch(ctx context.Context, notify func(Change)) error {
	c.mu.Lock()
	switch {
	case c.closed:
		c.mu.Unlock()
		return ErrClosed
	case c.watching:
		c.mu.Unlock()
		return ErrWatching
	}
	c.watching = true
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.watching = false
		c.mu.Unlock()
	}()

	w := newWatcher(c.roots, c.log, c.poll > 0)
	if err := c.setWatcher(ctx, w); err != nil {
		return nil
	}
	defer func() {
		c.setWatcher(context.Background(), nil)
		w.close()
	}()
	f := &follower{catalog: c, watcher: w, notify: notify, files: newFiles(c.poll > 0)}
	return f.follow(ctx)
}

// setWatcher makes scans add their directories to w.
func (c *Catalog) setWatcher(ctx context.Context, w *watcher) error {
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
	watcher *watcher
	notify  func(Change)
	files   *files
}

func (f *follower) follow(ctx context.Context) error {
	if err := f.begin(ctx); err != nil {
		return ended(ctx, err)
	}
	ticker := time.NewTicker(f.interval())
	defer ticker.Stop()
	quiet, most := stopped(), stopped()
	defer quiet.Stop()
	defer most.Stop()
	waiting := false
	for {
		scan := false
		select {
		case <-ctx.Done():
			return nil
		case <-f.watcher.events:
			if !waiting {
				waiting = true
				most.Reset(debounceMost)
			}
			quiet.Reset(debounceQuiet)
		case <-f.catalog.changed:
			f.tell(ctx, nil, false) // somebody else scanned
		case <-quiet.C:
			scan = true
		case <-most.C:
			scan = true
		case <-ticker.C:
			scan = f.polling()
		}
		if scan {
			waiting = false
			quiet.Stop()
			most.Stop()
			if err := f.rescan(ctx); err != nil {
				return ended(ctx, err)
			}
			ticker.Reset(f.interval())
		}
	}
}

// ended turns the end of ctx into no error.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func stopped() *time.Timer {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return timer
}

func (f *follower) interval() time.Duration {
	if f.catalog.poll > 0 {
		return f.catalog.poll
	}
	return fallbackPoll
}

func (f *follower) polling() bool { return f.catalog.poll > 0 || f.watcher.limited() }

// begin sets the watches by a first scan, and takes the files as they are. What
// changed before the watches were set is known of entry documents alone; what
// changed since is told whatever it reads now, since it may have been learned
// after that.
func (f *follower) begin(ctx context.Context) error {
	after, err := f.catalog.Rescan(ctx)
	if err != nil {
		return err
	}
	f.files.learn(ctx, after)
	f.watcher.takeFresh()
	paths, all := f.watcher.take()
	f.tell(ctx, nil, all, paths...)
	return nil
}

// rescan scans, and tells what changed.
func (f *follower) rescan(ctx context.Context) error {
	paths, all := f.watcher.take()
	if _, err := f.catalog.Rescan(ctx); err != nil {
		return err
	}
	f.tell(ctx, paths, all || f.polling())
	return nil
}

// tell notifies of the step to the newest snapshot, and of what changed of
// the files at the paths, or of all, if anything did. That the files at sure
// changed is known already.
func (f *follower) tell(ctx context.Context, paths []string, all bool, sure ...string) {
	change := Change{Before: f.catalog.told, After: f.catalog.Snapshot()}
	same := change.Before.sameSkills(change.After)
	paths = append(paths, f.watcher.takeFresh()...)
	change.Files = append(f.files.update(ctx, change, paths, all), insideSkills(sure, change.Before, change.After)...)
	if ctx.Err() != nil {
		return
	}
	f.catalog.told = change.After
	if !same {
		change.Files = append(change.Files, changedEntries(change.Before, change.After)...)
	}
	slices.Sort(change.Files)
	change.Files = slices.Compact(change.Files)
	if !same || len(change.Files) > 0 {
		f.notify(change)
	}
}
