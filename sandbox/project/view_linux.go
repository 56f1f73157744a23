package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

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
	// turn is taken by who looks at the directory, holding up the others.
	turn    chan struct{}
	tree    tree
	configs configs
	current *generation // nil before the first lease
	number  int
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
	return &View{dir: dir, turn: make(chan struct{}, 1), tree: tree{options: o}, configs: configs{}}, nil
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
	if v.current == nil || !slices.Equal(v.current.plan, plan) {
		next, err := v.build(plan)
		if err != nil {
			return nil, err
		}
		v.replace(next)
	}
	return v.lease(v.current, masked), nil
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

// replace makes a generation the current one.
func (v *View) replace(next *generation) {
	last := v.current
	v.current = next
	if last != nil && last.users == 0 {
		last.remove()
	}
}

// remove removes the layer. What cannot be removed is left to the owner of the
// base directory.
func (g *generation) remove() {
	if g.dir != "" {
		_ = tempdir.Remove(g.dir)
	}
}

// lease returns a lease of a generation.
func (v *View) lease(g *generation, masked []Masked) *Lease {
	g.users++
	listed := masked[:min(len(masked), MaxListed)]
	lease := &Lease{Layers: []string{v.tree.options.Dir}, Masked: listed, Omitted: len(masked) - len(listed)}
	if g.dir != "" {
		lease.Layers = []string{g.dir, v.tree.options.Dir}
	}
	released := false
	lease.release = func() {
		v.turn <- struct{}{}
		defer v.endTurn()
		if released {
			return
		}
		released = true
		if g.users--; g.users == 0 && g != v.current {
			g.remove()
		}
	}
	return lease
}

// Close removes the layers. All leases must have been released.
func (v *View) Close() error {
	v.turn <- struct{}{}
	defer v.endTurn()
	v.current = nil
	return tempdir.Remove(v.dir)
}
