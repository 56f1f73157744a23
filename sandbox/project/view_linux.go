package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/filestat"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
)

// View shows a directory of the user without what is hidden in it. It remembers
// the directories that it has looked at, and which secrets are in them, and looks
// again where one changed. It may be used from many goroutines.
//
// What a run sees is what was there when its lease was acquired: a secret that
// the user puts there later is hidden from the next run.
type View struct {
	dir string // of the layers
	// turn is taken by who looks at the directory, and has what follows.
	turn    chan struct{}
	tree    tree
	configs configs
	number  int // of the last generation

	mu      sync.Mutex  // has the generations, whoever looks
	current *generation // nil before the first lease
}

// generation is one state of the mask. Its directory is never changed, since it
// may be a layer of a mounted overlay.
type generation struct {
	plan  []item
	dir   string // empty where there is nothing to mask
	users int
}

// NewView returns a view. Nothing is looked at before [View.Acquire].
func NewView(o ViewOptions) (*View, error) {
	if o.MaxEntries == 0 {
		o.MaxEntries = DefaultMaxEntries
	}
	if o.MaxTime == 0 {
		o.MaxTime = DefaultMaxTime
	}
	dir, err := os.MkdirTemp(o.Base, "mask-")
	if err != nil {
		return nil, err
	}
	return &View{
		dir: dir, turn: make(chan struct{}, 1), tree: tree{options: o, settle: filestat.SettleTime}, configs: configs{settle: filestat.SettleTime},
	}, nil
}

// Acquire looks at the directory and returns what a run may see. The error is
// that of ctx, a [*Refusal] with [RuleMissing], [RuleUnreadable] or
// [RuleTooLarge], or one of the system.
func (v *View) Acquire(ctx context.Context) (*Lease, error) {
	select {
	case v.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer v.endTurn()
	masked, plan, err := v.look(ctx)
	if err != nil {
		return nil, err
	}
	next := v.current // changed by who has the turn
	if next == nil || !slices.Equal(next.plan, plan) || !next.intact() {
		if next, err = v.build(plan); err != nil {
			return nil, err
		}
	}
	return v.lease(next, masked), nil
}

func (v *View) endTurn() { <-v.turn }

// look returns what is to be masked, and the mask.
func (v *View) look(ctx context.Context) ([]Masked, []item, error) {
	top, err := openTop(v.tree.options.Dir)
	if err != nil {
		return nil, nil, err
	}
	defer top.Close()
	if err := v.tree.refresh(ctx, top); err != nil {
		return nil, nil, err
	}
	masked, plan := v.plan(top)
	return masked, plan, nil
}

// build makes the next generation.
func (v *View) build(plan []item) (*generation, error) {
	next := &generation{plan: plan}
	if len(plan) == 0 {
		return next, nil
	}
	v.number++
	next.dir = filepath.Join(v.dir, strconv.Itoa(v.number))
	if err := writeMask(next.dir, plan); err != nil {
		return nil, errors.Join(err, tempdir.Remove(next.dir))
	}
	return next, nil
}

// intact reports whether the mask is still there: it is where what nobody uses for
// days may be removed, file by file.
func (g *generation) intact() bool {
	return !slices.ContainsFunc(g.plan, func(it item) bool {
		var stat unix.Stat_t
		err := unix.Lstat(filepath.Join(g.dir, it.path), &stat)
		return err != nil || stat.Mode&unix.S_IFMT != it.mode&unix.S_IFMT
	})
}

// remove removes the layer. What cannot be removed is left to the owner of the
// base directory.
func (g *generation) remove() {
	if g.dir != "" {
		_ = tempdir.Remove(g.dir)
	}
}

// lease makes a generation the current one and returns a lease of it.
func (v *View) lease(g *generation, masked []Masked) *Lease {
	listed := masked[:min(len(masked), MaxListed)]
	lease := &Lease{Layers: []string{v.tree.options.Dir}, Masked: listed, Omitted: len(masked) - len(listed)}
	if g.dir != "" {
		lease.Layers = []string{g.dir, v.tree.options.Dir}
	}
	lease.release = sync.OnceFunc(func() { v.leave(g) })
	v.mu.Lock()
	last := v.current
	v.current = g
	g.users++
	unused := last != nil && last != g && last.users == 0
	v.mu.Unlock()
	if unused {
		last.remove()
	}
	return lease
}

// leave ends a lease of a generation.
func (v *View) leave(g *generation) {
	v.mu.Lock()
	g.users--
	unused := g.users == 0 && g != v.current
	v.mu.Unlock()
	if unused {
		g.remove()
	}
}

// Close removes the layers. All leases must have been released.
func (v *View) Close() error {
	v.turn <- struct{}{}
	defer v.endTurn()
	v.mu.Lock()
	v.current = nil
	v.mu.Unlock()
	return tempdir.Remove(v.dir)
}
