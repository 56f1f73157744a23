package changes

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/overlay"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/steps"
)

// Apply writes what is held at paths to the target: all that is there for no
// path, and all below one that is a directory. The id is that of what was looked
// at. It waits until no program uses the set. The error may be [ErrBusy],
// [StaleError], [AppliedError], [ErrTooLarge] or one of the target's; then
// nothing was done. A single path that cannot be applied is no error.
func (x *Set) Apply(ctx context.Context, id string, paths []string, judge Judge) (Outcome, error) {
	l, err := x.lookAlone(ctx, id, judge)
	if err != nil {
		return Outcome{}, err
	}
	defer l.close()
	if l.targetErr != nil {
		return Outcome{}, l.targetErr
	}
	a := &application{look: l, id: id, outcome: newOutcome(), applied: map[string]bool{}, failed: map[string]bool{}}
	a.choose(paths)
	err = a.run()
	if len(a.applied) > 0 || err == nil {
		l.ctx = context.WithoutCancel(ctx) // what was done is told, and noted
		err = errors.Join(err, l.tidy(l.Without(a.applied, l.lower), func(string) bool { return true }, a.done))
	}
	if err != nil && len(a.applied) == 0 {
		return Outcome{}, err
	}
	if err != nil { // who looks at the set next makes up for it
		x.store.log.Error("what was applied cannot be noted", "error", err)
	}
	a.outcome.Remaining = l.held()
	return a.outcome, nil
}

func newOutcome() Outcome {
	return Outcome{
		Applied: []Change{}, Conflicts: []Refusal{}, Refused: []Refusal{}, Remaining: Held{Files: []Change{}, Refused: []Refusal{}},
	}
}

// lookAlone looks at a set that is in the state of an id, and that nobody uses.
func (x *Set) lookAlone(ctx context.Context, id string, judge Judge) (*look, error) {
	if !strings.HasPrefix(id, idPrefix+x.name+"-") {
		return nil, ErrUnknown
	}
	l, err := x.look(ctx, judge, true)
	if err != nil {
		return nil, err
	}
	if err = l.scan(); err == nil {
		err = l.check(id)
	}
	if err != nil {
		l.close()
		return nil, err
	}
	x.touch()
	return l, nil
}

// check makes sure that the set is in the state that was looked at.
func (l *look) check(id string) error {
	if id == l.id() {
		return nil
	}
	for _, a := range slices.Backward(l.record.History) {
		if a.Held == id {
			return &AppliedError{Undo: a.Undo, When: a.When, Held: l.held()}
		}
	}
	return &StaleError{Held: l.held()}
}

// application is an apply that goes on.
type application struct {
	*look
	id      string
	outcome Outcome
	chosen  []*overlay.Item
	applied map[string]bool // paths that are in the target now
	failed  map[string]bool // paths that are not
	tx      *steps.Transaction
	done    *applied
}

// choose takes the items that are to be applied. The directories that programs
// made come with what is in them.
func (a *application) choose(paths []string) {
	all := a.verdicts()
	refused, wanted := map[string]string{}, map[string]bool{}
	for _, v := range all {
		if v.refused != "" {
			refused[v.change.Path] = v.refused
		}
		if selected(v.change.Path, paths) {
			wanted[v.change.Path] = true
		}
	}
	for _, p := range paths {
		if !slices.ContainsFunc(all, func(v verdict) bool { return files.Below(v.change.Path, p) }) {
			a.outcome.Refused = append(a.outcome.Refused, Refusal{strings.ToValidUTF8(p, "\uFFFD"), "nothing is held there"})
		}
	}
	for p := range maps.Clone(wanted) {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if i := a.Items[dir]; i != nil && i.Now.Dir() && !i.Base.Dir() {
				wanted[dir] = true
			}
		}
	}
	a.sort(all, wanted, refused)
}

// sort says of all that is wanted whether it is to be tried.
func (a *application) sort(all []verdict, wanted map[string]bool, refused map[string]string) {
	seen := map[string]bool{}
	for _, v := range all {
		p := v.change.Path
		switch {
		case !wanted[p] || seen[p] || v.refused == "" && refused[p] != "":
			continue
		case v.refused != "":
			a.outcome.Refused = append(a.outcome.Refused, Refusal{p, v.refused})
		case v.change.Conflict != "":
			a.outcome.Conflicts = append(a.outcome.Conflicts, Refusal{p, v.change.Conflict})
		default:
			a.chosen = append(a.chosen, v.item)
		}
		seen[p] = true
	}
}

// selected reports whether one of paths names a path. No paths name all.
func selected(p string, paths []string) bool {
	return len(paths) == 0 || slices.ContainsFunc(paths, func(dir string) bool { return files.Below(p, dir) })
}

// run does all steps.
func (a *application) run() error {
	todo := stepsOf(a.chosen)
	if len(todo) == 0 {
		return nil
	}
	undo, err := a.set.store.begin(a, bytesOf(todo))
	if err != nil {
		return err
	}
	defer undo.close()
	a.tx = &steps.Transaction{
		Ctx: a.ctx, Target: a.lower, Journal: undo.journal, Kept: filepath.Join(undo.dir, keptDir),
		Source: func(s *steps.Step) (*os.File, error) { return a.upper.File(s.Path) },
	}
	for _, s := range todo {
		a.do(s)
	}
	for _, i := range a.chosen {
		if !a.failed[i.Path] {
			a.applied[i.Path] = true
			a.outcome.Applied = append(a.outcome.Applied, changesOf(i)...)
		}
	}
	if a.tx.Next == 0 {
		_ = a.set.store.forget(undo.name) // recovery tries again
		return nil
	}
	a.outcome.Undo = applyPrefix + undo.name
	a.done = &applied{Held: a.id, Undo: a.outcome.Undo, When: undo.when}
	undo.end()
	steps.Fault("ended")
	return nil
}

// do does one step, and says what became of it.
func (a *application) do(s steps.Step) {
	if a.failed[s.Path] {
		return
	}
	err := a.tx.Do(s)
	if err == nil || errors.Is(err, steps.ErrDone) {
		return
	}
	a.failed[s.Path] = true
	a.outcome.fail(s.Path, err)
}

func (o *Outcome) fail(p string, err error) {
	if c, ok := errors.AsType[steps.Conflict](err); ok {
		o.Conflicts = append(o.Conflicts, Refusal{p, string(c)})
	} else {
		o.Refused = append(o.Refused, Refusal{p, err.Error()})
	}
}

// stepsOf returns what is to be done, in an order in which it can be: what goes
// before what comes, and directories around what is in them.
func stepsOf(items []*overlay.Item) []steps.Step {
	byPath := func(a, b steps.Step) int { return cmp.Compare(a.Path, b.Path) }
	var files, dirs, made, put, modes []steps.Step
	for _, i := range items {
		s := steps.Step{Path: i.Path, Old: i.Base, New: i.Now}
		switch {
		case i.Now == nil && i.Base.Dir():
			s.Op = steps.OpRmdir
			dirs = append(dirs, s)
		case i.Now == nil:
			s.Op = steps.OpRemove
			files = append(files, s)
		case i.ModeOnly():
			s.Op = steps.OpChmod
			modes = append(modes, s)
		case i.Now.Dir():
			open := *i.Now
			open.Mode |= 0o700 // as long as it is filled
			s.Op, s.New = steps.OpPut, &open
			made = append(made, s)
			if open.Mode != i.Now.Mode {
				modes = append(modes, steps.Step{Op: steps.OpChmod, Path: i.Path, Old: &open, New: i.Now})
			}
		default:
			s.Op = steps.OpPut
			put = append(put, s)
		}
	}
	for _, group := range [][]steps.Step{files, dirs, made, put, modes} {
		slices.SortFunc(group, byPath)
	}
	slices.Reverse(dirs)
	slices.Reverse(modes)
	return slices.Concat(files, dirs, made, put, modes)
}

// bytesOf is how much has to be kept of what goes.
func bytesOf(todo []steps.Step) (n int64) {
	for _, s := range todo {
		if s.Old.Regular() && s.Op != steps.OpChmod {
			n += s.Old.Size
		}
	}
	return n
}

// tidy leaves what remains, and looks again.
func (l *look) tidy(remaining map[string]*overlay.Item, refusedStay func(string) bool, done *applied) error {
	if done != nil {
		l.record.History = append(l.record.History, *done)
		l.record.History = l.record.History[max(0, len(l.record.History)-mostHistory):]
	}
	if l.upper != nil {
		if err := l.Tidy(l.upper, l.lower, remaining, refusedStay); err != nil {
			return err
		}
	}
	steps.Fault("tidied")
	l.Items = remaining
	l.record.Take(l.Snapshot)
	if err := l.set.writeRecord(l.record); err != nil {
		return err
	}
	steps.Fault("recorded")
	return l.scan()
}

// Discard forgets what is held at paths, as Apply takes them, refused changes
// too, and returns what remains. Below a path that hides a directory of the user
// nothing can be discarded without the path itself, if that is not a deletion.
// Errors are as those of Apply; a set that is too large to be looked at can be
// discarded as a whole, and so can one whose target is gone.
func (x *Set) Discard(ctx context.Context, id string, paths []string, judge Judge) (Held, error) {
	l, err := x.lookAlone(ctx, id, judge)
	if errors.Is(err, ErrTooLarge) && len(paths) == 0 {
		return x.discardAll(ctx, judge)
	}
	if err != nil {
		return Held{}, err
	}
	defer l.close()
	remaining := maps.Clone(l.Items)
	for p := range l.Items {
		if !selected(p, paths) {
			continue
		}
		delete(remaining, p)
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			if i := l.Items[dir]; i != nil && i.Now == nil {
				delete(remaining, dir) // it is not to be deleted with what is in it
			}
		}
	}
	stay := func(p string) bool { return !selected(p, paths) }
	if err := l.tidy(remaining, stay, nil); err != nil {
		return Held{}, err
	}
	return l.held(), nil
}

// discardAll removes all that programs left.
func (x *Set) discardAll(ctx context.Context, judge Judge) (Held, error) {
	l, err := x.look(ctx, judge, true)
	if err != nil {
		return Held{}, err
	}
	defer l.close()
	for l.upper != nil {
		names, err := l.upper.Names(".", 1000)
		if err != nil {
			return Held{}, err
		}
		if len(names) == 0 {
			break
		}
		for _, name := range names {
			if err := l.upper.RemoveAll(name); err != nil {
				return Held{}, err
			}
		}
	}
	if err := l.scan(); err != nil {
		return Held{}, err
	}
	return l.held(), nil
}

// keeping is the directory of one apply: its journal and what it replaced.
type keeping struct {
	name string
	dir  string
	held *lock
	begun
}

// begin makes the directory of an apply that replaces so many bytes.
func (s *Store) begin(a *application, bytes int64) (*keeping, error) {
	if bytes > s.keepBytes {
		return nil, ErrTooLarge
	}
	s.recover() // another may have been killed since this store was opened
	s.makeRoom(bytes)
	k := &keeping{name: steps.NewName()}
	k.dir = filepath.Join(s.applied(), k.name)
	temp := filepath.Join(s.applied(), newPrefix+k.name)
	err := os.MkdirAll(filepath.Join(temp, keptDir), 0o700)
	if err == nil {
		k.held, err = tryLock(temp, stateLock, unix.LOCK_EX)
	}
	if err == nil {
		err = os.Rename(temp, k.dir)
	}
	if err == nil {
		k.begun, err = beginJournal(filepath.Join(k.dir, applyJournal), steps.Begin{
			Target: a.set.Target(), Root: a.set.Root, Held: a.id, When: s.now(),
		})
	}
	if err == nil {
		steps.Fault("opened")
		err = errors.Join(files.SyncDir(k.dir), files.SyncDir(s.applied()))
	}
	if err != nil {
		if k.held != nil {
			k.held.release()
		}
		return nil, stateError(err)
	}
	return k, nil
}

func (k *keeping) close() {
	k.journal.Close()
	k.held.release()
}

// makeRoom forgets applies, the oldest first, until there is room for one more.
func (s *Store) makeRoom(bytes int64) {
	list, _ := s.Applied() // what can be read of it
	total := bytes
	for at, a := range list {
		name := strings.TrimPrefix(a.ID, applyPrefix)
		total += s.keptBytes(name)
		if at < s.keepApplied-1 && total <= s.keepBytes {
			continue
		}
		if alone, err := tryLock(filepath.Join(s.applied(), name), stateLock, unix.LOCK_EX); err == nil {
			if err := s.forget(name); err != nil {
				s.log.Warn("an old apply cannot be forgotten", "error", err)
			}
			alone.release()
		}
	}
}

// forget removes an apply, which is locked.
func (s *Store) forget(name string) error {
	removed := newPrefix + "removed-" + name
	if err := os.Rename(filepath.Join(s.applied(), name), filepath.Join(s.applied(), removed)); err != nil {
		return err
	}
	s.drop(filepath.Join(s.applied(), removed))
	return nil
}

func (s *Store) keptBytes(name string) (n int64) {
	entries, _ := os.ReadDir(filepath.Join(s.applied(), name, keptDir))
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}
