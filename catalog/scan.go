package catalog

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skills-mcp/skills-mcp/catalog/internal/archive"
	"github.com/skills-mcp/skills-mcp/catalog/internal/watch"
)

// scanState is what one scan leaves to the next. It is owned by the holder
// of [Catalog.scanning].
type scanState struct {
	scan       int64        // the number of the last one that came to its end
	candidates []*candidate // in order of precedence
	problems   []Problem    // of roots and directories
	archives   archive.Archives
	watcher    *watch.Watcher // of the running Watch, or nil
	// tops are the nodes of the roots as they were walked through; nil where that
	// came to no end. The watcher, if any, hears of what changes in them once it was
	// there for a scan.
	tops []*node
}

// scan looks at all roots and swaps the snapshot.
func (c *Catalog) scan(ctx context.Context) error {
	tops := c.state.tops
	c.state.tops = nil
	if replaced := c.state.watcher != nil && c.state.watcher.Begin(); replaced || tops == nil {
		tops = make([]*node, len(c.options.Roots))
	}
	w := c.walker(ctx, tops)
	w.all = true
	c.state.archives.Begin(0)
	whole, err := c.walk(w)
	if err != nil {
		return err
	}
	if c.state.watcher != nil {
		c.state.watcher.End()
	}
	if whole {
		c.state.tops = w.tops
	}
	c.publish()
	return nil
}

func (c *Catalog) walker(ctx context.Context, tops []*node) *walker {
	return &walker{
		ctx: ctx, log: c.log, roots: c.options.Roots, mode: c.options.mode(),
		archives: &c.state.archives, withheld: c.options.Withheld, watcher: c.state.watcher, tops: tops,
		seen: map[string]bool{}, deep: map[int]bool{}, local: map[uint64]bool{},
	}
}

// walk finds the candidates and loads them. The archives have begun. whole is false where the walk ended
// at a bound.
func (c *Catalog) walk(w *walker) (whole bool, err error) {
	start := time.Now()
	if whole, err = w.walk(); err != nil {
		return false, err
	}
	if err := c.load(w.ctx, w.found); err != nil {
		return false, err
	}
	c.state.archives.End()
	c.state.candidates, c.state.problems = byPrecedence(w.found), w.problems
	c.log.Debug("scanned", "candidates", len(c.state.candidates), "directories", w.dirs, "took", time.Since(start))
	return whole, nil
}

// load reads the entry documents that may have changed, several at a time.
func (c *Catalog) load(ctx context.Context, found []*candidate) error {
	var unread []*candidate
	for _, candidate := range found {
		if !candidate.loaded {
			unread = append(unread, candidate)
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	const batch = 64
	for chunk := range slices.Chunk(unread, batch) {
		group.Go(func() error {
			for _, candidate := range chunk {
				candidate.load(c.before(candidate), c.options.mode())
			}
			return ctx.Err()
		})
	}
	return group.Wait()
}

// before returns the candidate that was where one is now, or nil.
func (c *Catalog) before(now *candidate) *candidate {
	if now.was != nil {
		return now.was
	}
	i, found := slices.BinarySearchFunc(c.state.candidates, now, precedence)
	if !found {
		return nil
	}
	return c.state.candidates[i]
}

// precedence orders candidates: earlier roots first, and in a root what is nearer
// to it.
func precedence(a, b *candidate) int {
	return cmp.Or(
		cmp.Compare(a.root, b.root),
		cmp.Compare(a.depth, b.depth),
		cmp.Compare(a.shown, b.shown),
	)
}

// byPrecedence sorts candidates that are there.
func byPrecedence(found []*candidate) []*candidate {
	found = slices.DeleteFunc(found, func(c *candidate) bool { return c.gone })
	slices.SortStableFunc(found, precedence)
	return found
}
