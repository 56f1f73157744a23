package catalog

import (
	"context"
	"slices"
)

// Rescan scans the roots again and swaps the snapshot, re-reading only what
// changed on disk. Concurrent calls share a scan that began after each call.
// The error is that of ctx, or [ErrClosed].
func (c *Catalog) Rescan(ctx context.Context) (*Snapshot, error) {
	asked := c.begun.Load()
	if err := c.acquire(ctx); err != nil {
		return nil, err
	}
	defer c.release()
	if c.state.scan <= asked { // else another call's scan has seen what this one asks for
		scan := c.begun.Add(1)
		if err := c.scan(ctx); err != nil {
			return nil, err
		}
		c.state.scan = scan
	}
	return c.Snapshot(), nil
}

// acquire takes the right to scan.
func (c *Catalog) acquire(ctx context.Context) error {
	select {
	case c.scanning <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	if c.closed.Load() {
		c.release()
		return ErrClosed
	}
	return nil
}

func (c *Catalog) release() { <-c.scanning }

// Refresh reads the entry document of one skill again, if it changed, and
// returns the skill as it is now. It is for a reader that finds a skill
// [Skill.Stale] or [Skill.Unread]. The result is false where no skill has that name, or has it
// any longer. The error is that of ctx, or [ErrClosed].
func (c *Catalog) Refresh(ctx context.Context, name string) (*Skill, bool, error) {
	skill, ok := c.Snapshot().Lookup(name)
	if !ok {
		return nil, false, nil
	}
	enough, err := c.refresh(ctx, skill)
	if err == nil && !enough {
		_, err = c.Rescan(ctx)
	}
	if err != nil {
		return nil, false, err
	}
	skill, ok = c.Snapshot().Lookup(name)
	return skill, ok, nil
}

// refresh looks at one skill's directory. That is not enough for a skill in an
// archive, or one whose entry document has another name by now or is gone.
func (c *Catalog) refresh(ctx context.Context, skill *Skill) (enough bool, err error) {
	if err := c.acquire(ctx); err != nil {
		return false, err
	}
	defer c.release()
	i := slices.IndexFunc(c.state.candidates, func(old *candidate) bool { return old.skill != nil && old.skill.Dir == skill.Dir })
	if i < 0 || c.state.candidates[i].archive != "" {
		return false, nil
	}
	old := c.state.candidates[i]
	renewed, last := old.again(), old
	if old.indexed {
		last = nil // it is to be read
	}
	renewed.load(last, c.options.mode())
	if renewed.gone {
		return false, nil
	}
	if c.state.tops != nil {
		c.state.tops[old.root].visit(old.path, func(n *node) {
			if n.found == old {
				n.found = renewed
			}
		})
	}
	c.replace([]*candidate{renewed})
	return true, nil
}
