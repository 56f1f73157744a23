package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/steps"
)

// begun is a journal that was begun.
type begun struct {
	journal *steps.Journal
	when    time.Time
}

func beginJournal(file string, b steps.Begin) (begun, error) {
	j, err := steps.CreateJournal(file)
	if err != nil {
		return begun{}, err
	}
	if err := j.Sync(steps.Line{Begin: &b}); err != nil {
		return begun{}, errors.Join(err, j.Close())
	}
	return begun{j, b.When}, nil
}

// end says that all is done. Where that cannot be written, recovery does it.
func (b begun) end() { _ = b.journal.Sync(steps.Line{End: &steps.End{When: b.when}}) }

// undone is what was undone of an apply.
type undone struct {
	When  time.Time    `json:"when"` // last
	Steps map[int]bool `json:"steps"`
}

// Applied returns what was applied, the newest first.
func (s *Store) Applied() ([]Applied, error) {
	names, err := s.names(s.applied())
	if err != nil {
		return nil, err
	}
	var list []Applied
	for _, name := range names {
		l, u, err := s.readApplied(name)
		if err != nil || l.End == nil {
			continue // it goes on, or cannot be completed yet
		}
		a := Applied{ID: applyPrefix + name, Held: l.Begin.Held, Target: l.Begin.Target, When: l.Begin.When, Interrupted: l.End.Interrupted}
		for _, step := range l.Steps {
			if l.Done[step.N] != nil {
				a.Changes = append(a.Changes, changeOf(step))
			}
		}
		slices.SortStableFunc(a.Changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
		if len(a.Changes) == 0 {
			continue
		}
		a.Undone = u.When
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Applied) int { return b.When.Compare(a.When) })
	return list, nil
}

func (s *Store) readApplied(name string) (*steps.Log, undone, error) {
	u := undone{Steps: map[int]bool{}}
	data, err := os.ReadFile(filepath.Join(s.applied(), name, applyJournal))
	if err != nil {
		return nil, u, err
	}
	l, err := steps.ParseJournal(data)
	if err != nil {
		return nil, u, err
	}
	if err := readJSON(filepath.Join(s.applied(), name, undoneFile), &u); !errors.Is(err, fs.ErrNotExist) {
		return l, u, err
	}
	return l, u, nil
}

// changeOf says what a step did.
func changeOf(s *steps.Step) Change {
	switch {
	case s.New == nil:
		return Change{Path: s.Path, Kind: Deleted, Mode: s.Old.Mode}
	case s.Op == steps.OpChmod:
		return made(s, Mode)
	case s.Old == nil:
		return made(s, Added)
	}
	return made(s, Modified)
}

func made(s *steps.Step, kind Kind) Change {
	return Change{Path: s.Path, Kind: kind, Mode: s.New.Mode, Size: s.New.Size, Digest: s.New.Digest, Link: s.New.Link}
}

// Undo brings back what an apply replaced or removed, and removes what it added,
// where the user's files are still what the apply wrote; others are conflicts
// and stay. It can be called again for those. Of the set that was applied
// nothing comes back. The error may be [ErrUnknown], [ErrUndone], [ErrBusy], one
// of the target's, or [ErrUnnoted], with which the outcome is what was done.
func (s *Store) Undo(ctx context.Context, id string) (Outcome, error) {
	name, ok := strings.CutPrefix(id, applyPrefix)
	if !ok || !validName(name) {
		return Outcome{}, ErrUnknown
	}
	dir := filepath.Join(s.applied(), name)
	wait, cancel := waiting(ctx, s.wait)
	defer cancel()
	alone, err := waitLock(wait, dir, stateLock, unix.LOCK_EX)
	if errors.Is(err, fs.ErrNotExist) {
		return Outcome{}, ErrUnknown
	}
	if err != nil {
		return Outcome{}, err
	}
	defer alone.release()
	l, u, err := s.readApplied(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Outcome{}, ErrUnknown
	case err != nil:
		return Outcome{}, stateError(err)
	case l.End == nil:
		return Outcome{}, ErrState
	}
	target, err := openTarget(l.Begin.Target.Path, l.Begin.Root)
	if err != nil {
		return Outcome{}, err
	}
	defer target.Close()
	return s.undo(ctx, dir, l, u, target)
}

func (s *Store) undo(ctx context.Context, dir string, l *steps.Log, u undone, target *files.Tree) (Outcome, error) {
	var open []*steps.Step
	for _, step := range slices.Backward(l.Steps) {
		if l.Done[step.N] != nil && !u.Steps[step.N] {
			open = append(open, step)
		}
	}
	if len(open) == 0 {
		return Outcome{}, ErrUndone
	}
	again := l.Begin
	again.When = s.now()
	b, err := beginJournal(filepath.Join(dir, "undo-"+steps.NewName()+journalSuffix), again)
	if err != nil {
		return Outcome{}, stateError(err)
	}
	defer b.journal.Close()
	outcome, failed := newOutcome(), map[string]bool{}
	var from *steps.Step // whose copy is put
	t := &steps.Transaction{Ctx: ctx, Target: target, Journal: b.journal, Original: true, Source: func(*steps.Step) (*os.File, error) {
		return os.Open(filepath.Join(dir, keptDir, from.Keep))
	}}
	for _, from = range open {
		reverse := from.Reverse(l.Done[from.N])
		if failed[from.Path] {
			continue
		}
		if err := t.Do(reverse); err != nil && !errors.Is(err, steps.ErrDone) {
			failed[from.Path] = true
			outcome.fail(from.Path, err)
			continue
		}
		u.Steps[from.N] = true
		outcome.Applied = append(outcome.Applied, changeOf(&reverse))
	}
	u.When = again.When
	steps.Fault("reverted")
	b.end()
	if err := files.WriteJSON(filepath.Join(dir, undoneFile), u, true); err != nil {
		return outcome, fmt.Errorf("%w: %w", ErrUnnoted, err)
	}
	return outcome, nil
}
