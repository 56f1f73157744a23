package staging

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/resources/contained"
)

// ErrClosed means that no copies are made any more.
var ErrClosed = errors.New("copies closed: the server is shutting down")

// The copies that are kept though nothing uses them; those go first that were
// not used for longest.
const (
	maxIdleCopies = 64
	maxIdleBytes  = 2 << 30
)

const copiesPrefix = "skills-mcp-copies-"

// Copies keeps private copies of skills.
//
// A copy holds what is served of a skill and what its programs need besides
// (node_modules). Links are copied as they stand where they lead to something
// in the copy, and left out elsewhere, as are devices, FIFOs, sockets, files
// that the server may not read, and ignored files.
//
// There is at most one copy of each version. As long as the state of a skill's
// files is that in which they were copied, no file is read. It is safe for
// concurrent use.
type Copies struct {
	// Withheld returns what reports which files of the skill in a directory are in
	// no copy, as [contained.Options] has it; nil for none. It is set before the
	// first copy is taken, or nil.
	Withheld func(dir string) func(path string) bool

	dir *tempdir.Dir
	log *slog.Logger
	// idleCopies and idleBytes bound the copies that nothing uses.
	idleCopies int
	idleBytes  int64
	// libraryFiles and libraryBytes bound a library.
	libraryFiles int
	libraryBytes int64

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup // on copies and their removal

	mu     sync.Mutex
	clock  uint64
	newest map[string]*version      // by the skill's directory
	shown  *edition                 // the newest of all skills, or nil
	turns  map[string]chan struct{} // likewise; full while a call works on the skill
}

// New makes a private directory for copies in base, or in the system's
// directory for temporary files where base is empty. What servers of this user
// that were killed left there is removed in the background. What is left out of
// copies is logged.
func New(base string, log *slog.Logger) (*Copies, error) {
	dir, err := tempdir.New(base, copiesPrefix)
	if err != nil {
		return nil, fmt.Errorf("copies of skills: %w", err)
	}
	c := &Copies{
		dir: dir, log: log, idleCopies: maxIdleCopies, idleBytes: maxIdleBytes, libraryFiles: maxLibraryFiles, libraryBytes: maxLibraryBytes,
		newest: make(map[string]*version), turns: make(map[string]chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Take returns a copy of the skill in a directory as it is on disk now. The
// caller releases it. Errors are [*contained.Error] ([contained.TooLarge] beyond
// 50,000 files and 1 GiB), the context's, or [ErrClosed].
func (c *Copies) Take(ctx context.Context, dir string) (taken *Copy, err error) {
	err = c.inTurn(ctx, dir, func(ctx context.Context) (err error) {
		taken, err = c.take(ctx, dir)
		return err
	})
	return taken, err
}

// inTurn does something while no other call works on the skill in a directory.
func (c *Copies) inTurn(ctx context.Context, dir string, do func(context.Context) error) error {
	turn, err := c.enter(dir)
	if err != nil {
		return err
	}
	defer c.work.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)()
	select {
	case turn <- struct{}{}:
		err = do(ctx)
		<-turn
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil && c.ctx.Err() != nil {
		return ErrClosed
	}
	return err
}

// enter returns the channel of a skill, which is full while a call works on it.
func (c *Copies) enter(dir string) (turn chan struct{}, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return nil, ErrClosed
	}
	if c.turns[dir] == nil {
		c.turns[dir] = make(chan struct{}, 1)
	}
	c.work.Add(1)
	return c.turns[dir], nil
}

// take is Take where no other call works on the skill.
func (c *Copies) take(ctx context.Context, dir string) (*Copy, error) {
	source, err := c.openSource(dir)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	c.mu.Lock()
	last := c.newest[dir]
	c.mu.Unlock()
	if last != nil && last.proof && last.confirm(ctx, source) == nil && last.intact(ctx) {
		return c.acquire(last), nil
	}
	made, err := c.make(ctx, source, dir)
	if err != nil {
		return nil, err
	}
	if last != nil && last.digest == made.digest && last.intact(ctx) {
		// Nothing but times changed. The copy that was there may be at use in
		// containers that were started ahead.
		last.found, last.proof = made.found, made.proof
		_ = tempdir.Remove(made.parent) // else Close does
		made = last
	}
	return c.acquire(made), nil
}

// openSource opens a skill's own directory.
func (c *Copies) openSource(dir string) (*contained.Dir, error) {
	options := contained.Options{Runnable: true}
	if c.Withheld != nil {
		options.Withheld = c.Withheld(dir)
	}
	return contained.Open(dir, options)
}

// acquire makes a version the newest of its skill, and lends it.
func (c *Copies) acquire(v *version) *Copy {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.newest[v.source]; old != nil && old != v {
		c.forget(old)
	}
	c.newest[v.source] = v
	v.holders++
	c.clock++
	v.used = c.clock
	return &Copy{Dir: v.dir, Digest: v.digest, release: sync.OnceFunc(func() { c.release(v) })}
}

// release removes a version that nothing uses where it is not worth keeping.
func (c *Copies) release(v *version) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v.holders--
	if c.newest[v.source] != v {
		c.discard(v)
	}
	c.trim()
}

// trim removes the idle versions that were not used for longest while there
// are too many of them. The lock is held.
func (c *Copies) trim() {
	for {
		count, bytes := 0, int64(0)
		var oldest *version
		for _, v := range c.newest {
			if v.holders > 0 {
				continue
			}
			count, bytes = count+1, bytes+v.bytes
			if oldest == nil || v.used < oldest.used {
				oldest = v
			}
		}
		if count <= c.idleCopies && bytes <= c.idleBytes {
			return
		}
		c.forget(oldest)
	}
}

// forget lets a version go as soon as nothing uses it. The lock is held.
func (c *Copies) forget(v *version) {
	delete(c.newest, v.source)
	c.discard(v)
}

// discard removes a copy that nothing uses, aside, since it may hold many
// files. What cannot be removed now is tried again by Close, which removes all.
// The lock is held.
func (c *Copies) discard(v *version) {
	if v.holders == 0 && c.ctx.Err() == nil {
		c.work.Go(func() { _ = tempdir.Remove(v.parent) })
	}
}

// Close ends the copying and removes all copies, in use or not: end what runs
// in them first.
func (c *Copies) Close() error {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.work.Wait()
	return c.dir.Close()
}
