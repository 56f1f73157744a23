package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/files"
	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/overlay"
)

// The files in the directory of a set.
const (
	identityFile = "set.json"
	recordFile   = "record.json"
	dataDir      = "data" // what backends have

	openLock  = "open.lock"  // shared by each Set; who has it alone may remove the set
	useLock   = "use.lock"   // shared by runs; who has it alone may change what is held
	stateLock = "state.lock" // alone, by who changes the record or takes the use lock
)

// Set is one change set. It may be used from many goroutines.
type Set struct {
	store *Store
	name  string // 16 hex digits
	dir   string
	identity
	opened *lock
	wait   time.Duration // as Options.Wait has it
}

// WaitAtMost returns the set with another [Options.Wait].
func (x *Set) WaitAtMost(wait time.Duration) *Set {
	same := *x
	same.wait = wait
	return &same
}

// Dir returns the absolute directory in which programs leave their changes, as
// sandbox.Share has it. It is the same as long as the set is there.
func (x *Set) Dir() string { return filepath.Join(x.dir, dataDir) }

// Target returns what the set is about.
func (x *Set) Target() Target { return x.identity.Target }

// Close ends this use of the set, which may expire from then on. The set stays.
func (x *Set) Close() error {
	x.opened.release()
	return nil
}

// touch keeps the set from expiring.
func (x *Set) touch() {
	now := x.store.now()
	_ = os.Chtimes(filepath.Join(x.dir, identityFile), now, now) // expires a little earlier
}

func (x *Set) readRecord() (*record, error) {
	r := new(record)
	file := filepath.Join(x.dir, recordFile)
	if info, err := os.Lstat(file); err == nil && info.Size() == 0 {
		return r, nil // the machine stopped: all that the user has may be newer
	}
	err := readJSON(file, r)
	if err == nil && slices.ContainsFunc(r.Items, func(i *overlay.Item) bool { return i == nil || !filepath.IsLocal(i.Path) }) {
		err = fmt.Errorf("%w: %s", ErrState, recordFile)
	}
	return r, err
}

// writeRecord does not wait for the disk, since that costs more than a run: what
// an older record says of the user's files are more conflicts, and no fewer.
func (x *Set) writeRecord(r *record) error {
	if err := files.WriteJSON(filepath.Join(x.dir, recordFile), r, false); err != nil {
		return stateError(err)
	}
	return nil
}

// openUpper opens what programs wrote, or nothing where they did not.
func (x *Set) openUpper() (*files.Tree, error) {
	upper, err := files.Open(filepath.Join(x.Dir(), sandbox.UpperDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == unix.EACCES { // programs took away its mode
		if err = os.Chmod(filepath.Join(x.Dir(), sandbox.UpperDir), 0o700); err == nil {
			upper, err = files.Open(filepath.Join(x.Dir(), sandbox.UpperDir))
		}
	}
	if err != nil {
		return nil, stateError(err)
	}
	return upper, nil
}

// look is a set that is looked at, under its state lock.
type look struct {
	set               *Set
	ctx               context.Context
	judge             Judge
	record            *record
	upper, lower      *files.Tree // nil where there is none
	targetErr         error       // why there is no lower
	state, use        *lock       // use is nil while programs use the set
	*overlay.Snapshot             // taken by scan
}

// look opens a set under its state lock. Where it is to be alone, it waits until
// no program uses the set.
func (x *Set) look(ctx context.Context, judge Judge, alone bool) (*look, error) {
	l := &look{set: x, judge: judge, ctx: ctx}
	wait := ctx
	if alone {
		var cancel func()
		wait, cancel = waiting(ctx, x.wait)
		defer cancel()
	}
	for {
		var err error
		if l.state, err = waitLock(wait, x.dir, stateLock, unix.LOCK_EX); err != nil {
			return nil, err
		}
		l.use, err = tryLock(x.dir, useLock, unix.LOCK_EX)
		if err == nil || !alone && errors.Is(err, unix.EWOULDBLOCK) {
			break
		}
		l.state.release()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, err
		}
		if err := pause(wait); err != nil {
			return nil, err
		}
	}
	if err := l.open(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

func (l *look) open() (err error) {
	if l.record, err = l.set.readRecord(); err != nil {
		return err
	}
	if l.upper, err = l.set.openUpper(); err != nil {
		return err
	}
	l.lower, l.targetErr = openTarget(l.set.identity.Target.Path, l.set.Root)
	return nil
}

func (l *look) close() {
	l.closeTrees()
	for _, held := range []*lock{l.use, l.state} {
		if held != nil {
			held.release()
		}
	}
}

func (l *look) closeTrees() {
	for _, t := range []*files.Tree{l.upper, l.lower} {
		if t != nil {
			t.Close()
		}
	}
}

// scan takes a snapshot, and remembers it where no program uses the set.
func (l *look) scan() error {
	found, err := overlay.Scan(l.ctx, l.upper, l.lower, &l.record.Known)
	if err != nil {
		return err // what was found before stays
	}
	l.Snapshot = found
	if l.use == nil || l.lower == nil {
		return nil
	}
	return l.remember()
}

// remember writes what the snapshot found, if that is news. Nobody uses the set.
func (l *look) remember() error {
	was := *l.record
	l.record.Take(l.Snapshot)
	l.record.Dirty = false
	if !was.Dirty && slices.EqualFunc(was.Items, l.record.Items, overlay.SameItem) && !was.Young() {
		return nil
	}
	return l.set.writeRecord(l.record)
}

// openTarget opens a directory of the user, which has to be the one that it was.
func openTarget(dir string, was files.Root) (*files.Tree, error) {
	lower, err := files.Open(dir)
	if err != nil {
		return nil, targetError(dir, err)
	}
	now, err := files.RootOf(lower)
	if err != nil || now.Inode != was.Inode || now.Born != was.Born {
		lower.Close()
		return nil, ErrTargetReplaced
	}
	return lower, nil
}

func targetError(dir string, err error) error {
	switch {
	case files.IsErrno(err, unix.ELOOP):
		return ErrTargetReplaced
	case files.IsErrno(err, unix.ENOTDIR):
		if _, err := os.Lstat(dir); err == nil {
			return ErrTargetReplaced
		}
		return ErrTargetGone
	case errors.Is(err, fs.ErrNotExist):
		return ErrTargetGone
	}
	return fmt.Errorf("%w (%s)", ErrTargetUnusable, files.Reason(err))
}

// Use is called before programs may write to the set, and release once when the
// last of them is gone. Any number may use a set at once, while no apply or
// discard does: it waits for these until ctx ends, and then fails with
// [ErrBusy]. Release remembers what the user's files were of which programs made
// changes: one that the user changed after Use returned is a conflict. Where the
// process is killed before, the next who looks at the set does that.
func (x *Set) Use(ctx context.Context) (release func() error, err error) {
	for {
		use, err := x.tryUse(ctx)
		if err == nil {
			x.touch()
			return sync.OnceValue(func() error { return x.settle(use) }), nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, err
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// tryUse takes the use lock. The first user says since when the set is used.
func (x *Set) tryUse(ctx context.Context) (*lock, error) {
	state, err := waitLock(ctx, x.dir, stateLock, unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer state.release()
	if alone, err := tryLock(x.dir, useLock, unix.LOCK_EX); err == nil {
		err = x.begin(ctx)
		alone.release() // nobody else can take it meanwhile
		if err != nil {
			return nil, err
		}
	}
	return tryLock(x.dir, useLock, unix.LOCK_SH)
}

// begin readies the set for its first user.
func (x *Set) begin(ctx context.Context) error {
	l := &look{set: x, ctx: ctx}
	if err := l.open(); err != nil {
		return err
	}
	defer l.closeTrees()
	if l.record.Dirty {
		// Who used it last was killed before it was remembered what was changed.
		found, err := overlay.Scan(ctx, l.upper, l.lower, &l.record.Known)
		if errors.Is(err, ErrTooLarge) || l.lower == nil {
			return nil // it stays so
		}
		if err != nil {
			return err
		}
		l.record.Take(found)
	}
	since, err := files.Stamp(x.dir)
	if err != nil {
		return err
	}
	l.record.Since, l.record.Dirty = since, true
	return x.writeRecord(l.record)
}

// settle gives a use lock back, and remembers what the user's files were if that
// was the last one.
func (x *Set) settle(use *lock) error {
	use.release()
	l, err := x.look(context.Background(), nil, false)
	if err != nil {
		return err
	}
	defer l.close()
	x.touch()
	if l.use == nil {
		return nil
	}
	if err := l.scan(); err != nil && !errors.Is(err, ErrTooLarge) { // says so to who looks
		return err
	}
	return nil
}
