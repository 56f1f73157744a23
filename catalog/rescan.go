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

// refresh looks at one skill's directory. It reports whether that does not
// suffice: a skill in an archive, or one whose entry document has another
// name by now or is gone.
func (c *Catalog) refresh(ctx context.Context, skill *Skill) (full bool, err error) {
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
		candidates := slices.Clone(c.state.candidates)
		candidates[i] = &renewed
		c.state.candidates = candidates
		c.publish()
		return false, nil
	}
	return true, nil
}
