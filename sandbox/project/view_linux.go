package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

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
	number  int    // of the last generation
	mask    []item // of the current one
	generations
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
	if next == nil || !slices.Equal(v.mask, plan) || !v.intact() {
		if next, err = v.build(plan); err != nil {
			return nil, err
		}
		v.mask = plan
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
	next := new(generation)
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
func (v *View) intact() bool {
	return !slices.ContainsFunc(v.mask, func(it item) bool {
		var stat unix.Stat_t
		err := unix.Lstat(filepath.Join(v.current.dir, it.path), &stat)
		return err != nil || stat.Mode&unix.S_IFMT != it.mode&unix.S_IFMT
	})
}

// lease makes a generation the current one and returns a lease of it.
func (v *View) lease(g *generation, masked []Masked) *Lease {
	lease := &Lease{Layers: []string{v.tree.options.Dir}, Masked: masked[:min(len(masked), MaxListed)], release: v.use(g)}
	if g.dir != "" {
		lease.Layers = []string{g.dir, v.tree.options.Dir}
	}
	return lease
}

// Close removes the layers. All leases must have been released.
func (v *View) Close() error {
	v.turn <- struct{}{}
	defer v.endTurn()
	return v.close(v.dir)
}
