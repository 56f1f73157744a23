// Package catalog finds Agent Skills on disk and keeps an immutable, sorted
// snapshot of them.
//
// A catalog is opened over an ordered list of roots. Every scan yields a new
// [Snapshot]; readers hold the one they started with, so one request sees one
// state of the world from start to end. Nothing in a skill folder is trusted:
// a broken skill becomes a [Problem] and never costs another skill.
//
// Level 1 of the progressive disclosure (name, description, the rest of the
// frontmatter) is read at scan. Bodies and supporting files are not.
//
// # What is a skill
//
// A directory that holds SKILL.md, up to eight levels below a root. A skill
// inside a skill is published as one of its own. Symbolic links to
// directories are followed where they lie directly in a root, and nowhere
// else. Version-control and tool directories (.git, node_modules,
// __pycache__, .venv and their like) are skipped. Other hidden directories
// are searched outside of skills, for collections such as .curated, and not
// inside of one. A .skill or .zip file directly in a root is an archive of
// skills.
//
// The format is that of https://agentskills.io/specification; [Rules] lists
// every rule that a skill is held to.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
)

// ErrClosed is returned for the use of a closed catalog.
var ErrClosed = errors.New("catalog is closed")

// Options configure a catalog.
type Options struct {
	// Roots are scanned in order; on equal names the earlier root wins and
	// the loser is a problem.
	Roots []Root
	// Strict excludes whatever the Agent Skills reference validator rejects.
	// Without it cosmetic faults are warnings.
	Strict bool
	// Spec excludes what breaks the specification in its name, its description or
	// the name of its entry document. Strict excludes more.
	Spec bool
	// MaxSkills is how many skills there may be: those of earlier roots, and in a
	// root those nearer to it. If zero, as many as a scan finds.
	MaxSkills int
	// Hides reports whether a skill of that name, found in the root of that index,
	// is hidden: it is in no snapshot but for [Snapshot.Hidden], and another
	// skill may have its name. It is called at every scan, and always says the
	// same. If nil, none is.
	Hides func(root int, name string) bool
	// Withheld returns what reports which paths in a skill's directory, and what is
	// below them, are no content of the skill; nil for none. If nil, there are
	// none.
	Withheld func(dir string) func(path string) bool
	// Poll is the time between two looks at the roots of a [Catalog.Watch].
	// It is for network file systems, which send no events. If zero, the
	// operating system's file events are used.
	Poll time.Duration
	// Index is a directory of this user's, and of no use to others, in which is kept
	// what was read, so that the next catalog that is opened reads again only what
	// changed since. It is made where it is not there. If empty, all is read.
	Index string
	// Secret reports whether a text holds what is written nowhere. What a root has of
	// that is in no index. If nil, nothing is secret.
	Secret func(text string) bool
	// Logger receives the errors among the problems, and on its debug level
	// the warnings and scans. If nil, nothing is logged.
	Logger *slog.Logger
}

// Catalog keeps the newest snapshot of its roots. It is safe for concurrent
// use.
type Catalog struct {
	options  Options
	log      *slog.Logger
	snapshot atomic.Pointer[Snapshot]
	changed  chan struct{} // holds one token while a Watch has a swap to look at
	reported *Snapshot     // the last that a Watch notified of, or the first; owned by the Watch

	// scanning holds one token while a scan or a refresh runs; its holder
	// owns the fields of scanState.
	scanning chan struct{}
	state    scanState

	keeping  sync.WaitGroup // of the index
	begun    atomic.Int64   // scans, ever
	closed   atomic.Bool
	watching atomic.Bool
}

// Open scans the roots once. A missing or unreadable root is a [Problem],
// not an error; an error means that the options make no sense, or that ctx
// ended.
func Open(ctx context.Context, opts Options) (*Catalog, error) {
	for _, root := range opts.Roots {
		if err := root.Validate(); err != nil {
			return nil, err
		}
	}
	if opts.Poll < 0 {
		return nil, errors.New("the poll interval is negative")
	}
	log := cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	c := &Catalog{options: opts, log: log, changed: make(chan struct{}, 1), scanning: make(chan struct{}, 1)}
	if c.options.Hides == nil {
		c.options.Hides = func(int, string) bool { return false }
	}
	c.snapshot.Store(&Snapshot{})
	index := c.openIndex()
	if index != nil {
		c.state.tops = index.recall()
	}
	if _, err := c.Rescan(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	if index != nil {
		c.keeping.Go(index.keep)
	}
	c.reported = c.Snapshot()
	return c, nil
}

// Root returns the root in which a skill of this catalog was found.
func (c *Catalog) Root(skill *Skill) Root { return c.options.Roots[skill.Root] }

// Fault returns what keeps a skill out that would have that name, or whose
// directory has it, if anything does. Of skills that [Options.Hides] would leave
// out nothing is told.
func (c *Catalog) Fault(name string) (Problem, bool) {
	for root := range c.options.Roots {
		if c.options.Hides(root, name) {
			return Problem{}, false
		}
	}
	return c.Snapshot().fault(name)
}

// Snapshot returns the newest snapshot. It never blocks on a scan.
func (c *Catalog) Snapshot() *Snapshot { return c.snapshot.Load() }

// Close waits for the scan that runs, and until the index is kept, and removes what
// the catalog extracted from archives. The snapshots stay readable; the files of
// archived skills are gone.
func (c *Catalog) Close() error {
	c.keeping.Wait()
	c.closed.Store(true)
	c.scanning <- struct{}{}
	defer c.release()
	return c.state.archives.Close()
}

// mode is how much is an error.
func (o Options) mode() problem.Mode {
	switch {
	case o.Strict:
		return problem.Strict
	case o.Spec:
		return problem.Spec
	}
	return problem.Lenient
}
