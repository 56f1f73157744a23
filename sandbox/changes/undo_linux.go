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
)

// begun is a journal that was begun.
type begun struct {
	journal *journal
	when    time.Time
}

func beginJournal(file string, b begin) (begun, error) {
	j, err := createJournal(file)
	if err != nil {
		return begun{}, err
	}
	if err := j.sync(line{Begin: &b}); err != nil {
		return begun{}, errors.Join(err, j.file.Close())
	}
	return begun{j, b.When}, nil
}

// end says that all is done. Where that cannot be written, recovery does it.
func (b begun) end() error {
	_ = b.journal.sync(line{End: &end{When: b.when}})
	return nil
}

// undone is what was undone of an apply.
type undone struct {
	When  time.Time    `json:"when"` // last
	Steps map[int]bool `json:"steps"`
}

// Applied returns what was applied, the newest first.
func (s *Store) Applied() ([]Applied, error) {
	names, err := s.appliedNames()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	var list []Applied
	for _, name := range names {
		l, u, err := s.readApplied(name)
		if err != nil || l.end == nil {
			continue // it goes on, or cannot be completed yet
		}
		a := Applied{ID: applyPrefix + name, Held: l.begin.Held, Target: l.begin.Target, When: l.begin.When, Interrupted: l.end.Interrupted}
		for _, step := range l.steps {
			if l.done[step.N] != nil {
				a.Changes = append(a.Changes, step.change())
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

func (s *Store) readApplied(name string) (*log, undone, error) {
	u := undone{Steps: map[int]bool{}}
	data, err := os.ReadFile(filepath.Join(s.applied(), name, applyJournal))
	if err != nil {
		return nil, u, err
	}
	l, err := parseJournal(data)
	if err != nil {
		return nil, u, err
	}
	if err := readJSON(filepath.Join(s.applied(), name, undoneFile), &u); !errors.Is(err, fs.ErrNotExist) {
		return l, u, err
	}
	return l, u, nil
}

// change says what a step did.
func (s *step) change() Change {
	switch {
	case s.New == nil:
		return Change{Path: s.Path, Kind: Deleted, Mode: s.Old.Mode}
	case s.Op == opChmod:
		return s.made(Mode)
	case s.Old == nil:
		return s.made(Added)
	}
	return s.made(Modified)
}

func (s *step) made(kind Kind) Change {
	return Change{Path: s.Path, Kind: kind, Mode: s.New.Mode, Size: s.New.Size, Digest: s.New.Digest, Link: s.New.Link}
}

// Undo brings back what an apply replaced or removed, and removes what it added,
// where the user's files are still what the apply wrote; others are conflicts
// and stay. It can be called again for those. Of the set that was applied
// nothing comes back. The error may be [ErrUnknown], [ErrUndone], [ErrBusy] or
// one of the target's.
func (s *Store) Undo(ctx context.Context, id string) (Outcome, error) {
	name, ok := strings.CutPrefix(id, applyPrefix)
	if !ok || !validName(name) {
		return Outcome{}, ErrUnknown
	}
	dir := filepath.Join(s.applied(), name)
	alone, err := waitLock(ctx, dir, stateLock, unix.LOCK_EX)
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
	case err != nil || l.end == nil:
		return Outcome{}, errors.Join(ErrState, err)
	}
	target, err := openTarget(l.begin.Target.Path, l.begin.Root)
	if err != nil {
		return Outcome{}, err
	}
	defer target.close()
	return s.undo(ctx, dir, l, u, target)
}

func (s *Store) undo(ctx context.Context, dir string, l *log, u undone, target *tree) (Outcome, error) {
	var open []*step
	for _, step := range slices.Backward(l.steps) {
		if l.done[step.N] != nil && !u.Steps[step.N] {
			open = append(open, step)
		}
	}
	if len(open) == 0 {
		return Outcome{}, ErrUndone
	}
	again := l.begin
	again.When = s.now()
	b, err := beginJournal(filepath.Join(dir, "undo-"+newName()+journalSuffix), again)
	if err != nil {
		return Outcome{}, errors.Join(ErrState, err)
	}
	defer b.journal.file.Close()
	outcome, failed := newOutcome(), map[string]bool{}
	var from *step // whose copy is put
	t := &transaction{ctx: ctx, target: target, journal: b.journal, original: true, source: func(*step) (*os.File, error) {
		return os.Open(filepath.Join(dir, keptDir, from.Keep))
	}}
	for _, from = range open {
		reverse := from.reverse(l.done[from.N])
		if failed[from.Path] {
			continue
		}
		if _, err := t.do(reverse); err != nil && !errors.Is(err, errDone) {
			failed[from.Path] = true
			outcome.fail(from.Path, err)
			continue
		}
		u.Steps[from.N] = true
		outcome.Applied = append(outcome.Applied, reverse.change())
	}
	u.When = again.When
	fault("reverted")
	return outcome, errors.Join(b.end(), writeJSON(filepath.Join(dir, undoneFile), u, true))
}

// reverse returns the step that takes back one that was done.
func (s *step) reverse(d *done) step {
	back := step{Path: s.Path, Old: d.New, New: s.Old}
	switch {
	case s.Op == opChmod:
		back.Op = opChmod
	case s.Old != nil:
		back.Op = opPut
	case s.New.dir():
		back.Op = opRmdir
	default:
		back.Op = opRemove
	}
	return back
}
