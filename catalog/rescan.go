package catalog

import (
	"context"
)

// flight is one scan with those who wait for it.
type flight struct {
	cancel  context.CancelFunc // when nobody waits any more
	waiting int                // guarded by Catalog.mu
	done    chan struct{}
	err     error // valid once done is closed
}

// Rescan scans the roots again and swaps the snapshot, re-reading only what
// changed on disk. Concurrent calls share one scan that began after each
// call. The error is that of ctx, or [ErrClosed].
func (c *Catalog) Rescan(ctx context.Context) (*Snapshot, error) {
	f, err := c.board()
	if err != nil {
		return nil, err
	}
	defer c.leave(f)
	select {
	case <-f.done:
		if f.err != nil {
			return nil, f.err
		}
		return c.Snapshot(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// board joins the flight that has not begun, or starts one.
func (c *Catalog) board() (*flight, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	if c.next == nil {
		ctx, cancel := context.WithCancel(context.Background())
		f := &flight{cancel: cancel, done: make(chan struct{})}
		c.next = f
		c.flights.Go(func() { c.fly(ctx, f) })
	}
	c.next.waiting++
	return c.next, nil
}

// leave gives up waiting; the last one to leave ends the scan, or the wait
// for it.
func (c *Catalog) leave(f *flight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f.waiting--
	if f.waiting == 0 {
		f.cancel()
		if c.next == f {
			c.next = nil
		}
	}
}

// fly scans once it is its turn. From then on nobody can board.
func (c *Catalog) fly(ctx context.Context, f *flight) {
	defer close(f.done)
	if f.err = c.acquire(ctx); f.err != nil {
		return
	}
	defer c.release()
	c.mu.Lock()
	if c.next == f {
		c.next = nil
	}
	closed := c.closed
	c.mu.Unlock()
	if closed {
		f.err = ErrClosed
		return
	}
	f.err = c.scan(ctx)
}

// acquire takes the right to scan.
func (c *Catalog) acquire(ctx context.Context) error {
	select {
	case c.scanning <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Catalog) release() { <-c.scanning }

// Refresh reads the entry document of one skill again, if it changed, and
// gives the skill as it is now. It is for a reader that finds a skill
// [Skill.Stale]. The result is false where no skill has that name, or has it
// any longer. The error is that of ctx, or [ErrClosed].
func (c *Catalog) Refresh(ctx context.Context, name string) (*Skill, bool, error) {
	skill, ok := c.Snapshot().Lookup(name)
	if !ok {
		return nil, false, nil
	}
	full, err := c.refresh(ctx, skill)
	if err == nil && full {
		_, err = c.Rescan(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	skill, ok = c.Snapshot().Lookup(name)
	return skill, ok, nil
}

// refresh looks at one skill's directory. It tells whether that does not
// suffice: a skill in an archive, or one whose entry document has another
// name by now or is gone.
func (c *Catalog) refresh(ctx context.Context, skill *Skill) (full bool, err error) {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return false, ErrClosed
	}
	if err := c.acquire(ctx); err != nil {
		return false, err
	}
	defer c.release()
	for i, old := range c.state.candidates {
		if old.skill == nil || old.skill.Dir != skill.Dir {
			continue
		}
		if old.archived {
			return true, nil
		}
		renewed := *old
		renewed.load(old, c.strict)
		if renewed.gone {
			return true, nil
		}
		if renewed.read == old.read && renewed.skill == old.skill {
			return false, nil
		}
		candidates := append([]*candidate(nil), c.state.candidates...)
		candidates[i] = &renewed
		c.state.candidates = candidates
		c.publish()
		return false, nil
	}
	return true, nil
}
