package staging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// ErrClosed means that no copies are made any more.
var ErrClosed = errors.New("copies closed: the server is shutting down")

// Defaults of [Options].
const (
	defaultIdleCopies    = 64
	defaultIdleCopyBytes = 2 << 30
	copiesPrefix         = "skills-mcp-copies-"
)

// Options configure [Copies]. The zero value is ready to use.
type Options struct {
	// IdleCopies and IdleBytes bound the copies that are kept though nothing
	// uses them; those go first that were not used for longest. If zero,
	// 64 copies and 2 GiB.
	IdleCopies int
	IdleBytes  int64
	// Logger gets what was left out of copies. If nil, nothing is logged.
	Logger *slog.Logger
}

// Copies keeps private copies of skills, so that what a run sees is one
// version that can be checked before, and that stays the same until the run
// has ended, whatever is done to the skill's own directory meanwhile.
//
// A copy holds what is served of a skill and what its programs need besides
// (node_modules). Links are copied as they stand where they lead to something
// in the copy, and left out elsewhere, as are devices, FIFOs, sockets, files
// that the server may not read, and the leavings of other tools.
//
// There is at most one copy of each version. As long as the files of a skill
// are those that were copied, by the rules of package fileid, no file is read. It
// is safe for concurrent use.
type Copies struct {
	dir  *tempdir.Dir
	log  *slog.Logger
	idle Options

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // on copies and their removal

	mu     sync.Mutex
	closed bool
	clock  uint64
	newest map[string]*version      // by the skill's directory
	busy   map[string]chan struct{} // closed when the work on a skill ends
}

// New makes a private directory for copies in base, or in the system's
// directory for temporary files where base is empty. What servers of this user
// that were killed left there is removed in the background.
func New(base string, options Options) (*Copies, error) {
	dir, err := tempdir.New(base, copiesPrefix)
	if err != nil {
		return nil, fmt.Errorf("copies of skills: %w", err)
	}
	if options.IdleCopies == 0 {
		options.IdleCopies = defaultIdleCopies
	}
	if options.IdleBytes == 0 {
		options.IdleBytes = defaultIdleCopyBytes
	}
	c := &Copies{
		dir: dir, log: options.Logger, idle: options,
		newest: make(map[string]*version), busy: make(map[string]chan struct{}),
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Take gives a copy of a skill as it is on disk now. The caller releases it.
// Errors are [*contained.Error] ([contained.TooLarge] beyond 50,000 files and 1 GiB),
// the context's, or [ErrClosed].
func (c *Copies) Take(ctx context.Context, skill *catalog.Skill) (*Copy, error) {
	if err := c.begin(ctx, skill.Dir); err != nil {
		return nil, err
	}
	defer c.end(skill.Dir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	tree, err := open(skill.Dir)
	if err != nil {
		return nil, err
	}
	defer tree.Close()
	c.mu.Lock()
	last := c.newest[skill.Dir]
	c.mu.Unlock()
	if last != nil && last.holds(ctx, tree) && last.intact(ctx) {
		return c.give(skill.Dir, last), nil
	}
	made, err := c.make(ctx, tree, filepath.Base(skill.Dir))
	if err != nil {
		return nil, err
	}
	if last != nil && last.digest == made.digest && last.intact(ctx) {
		// Nothing but times changed. The copy that was there may be at use in
		// containers that were started ahead.
		last.source, last.proof = made.source, made.proof
		_ = tempdir.Remove(made.parent) // else Close does
		made = last
	}
	return c.give(skill.Dir, made), nil
}

// holds tells, without reading a file, that the skill is as it was copied.
func (v *version) holds(ctx context.Context, tree *contained.Dir) bool {
	return v.proof && v.confirm(ctx, tree) == nil
}

// begin waits until nobody else works on a skill.
func (c *Copies) begin(ctx context.Context, dir string) error {
	for {
		c.mu.Lock()
		if c.closed {
			c.mu.Unlock()
			return ErrClosed
		}
		busy := c.busy[dir]
		if busy == nil {
			c.busy[dir] = make(chan struct{})
			c.work.Add(1)
			c.mu.Unlock()
			return nil
		}
		c.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *Copies) end(dir string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.busy[dir])
	delete(c.busy, dir)
	c.work.Done()
}

// give makes a version the newest of its skill, and gives it out.
func (c *Copies) give(dir string, v *version) *Copy {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.newest[dir]; old != nil && old != v {
		c.forget(dir, old)
	}
	v.newest = true
	c.newest[dir] = v
	return c.hold(v)
}

// release removes a version that nobody holds where it is not worth keeping.
func (c *Copies) release(v *version) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v.holders--
	if v.holders == 0 && !v.newest {
		c.discard(v)
	}
	c.trim()
}

// trim removes the idle versions that were not used for longest while there
// are too many of them. The lock is held.
func (c *Copies) trim() {
	for {
		count, bytes, oldest := 0, int64(0), ""
		for dir, v := range c.newest {
			if v.holders > 0 {
				continue
			}
			count, bytes = count+1, bytes+v.bytes
			if oldest == "" || v.used < c.newest[oldest].used {
				oldest = dir
			}
		}
		if count <= max(c.idle.IdleCopies, 0) && bytes <= max(c.idle.IdleBytes, 0) {
			return
		}
		c.forget(oldest, c.newest[oldest])
	}
}

// forget lets a version go as soon as nobody holds it. The lock is held.
func (c *Copies) forget(dir string, v *version) {
	delete(c.newest, dir)
	v.newest = false
	if v.holders == 0 {
		c.discard(v)
	}
}

// discard removes a copy aside, since it may hold many files. What cannot be
// removed now is tried again by Close, which removes all. The lock is held.
func (c *Copies) discard(v *version) {
	if !c.closed {
		c.work.Go(func() { _ = tempdir.Remove(v.parent) })
	}
}

// Close ends the copying and removes all copies, held or not: end what runs in
// them first.
func (c *Copies) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.work.Wait()
	return c.dir.Close()
}
