//go:build !linux

package changes

import (
	"context"
	"io"
	"time"
)

// Store keeps change sets in a directory of the user's state. It may be used
// from many goroutines and processes.
type Store struct{}

// Set is one change set. It may be used from many goroutines.
type Set struct{}

// Open opens the store in a directory, which is made with mode 0700 where it is
// not there. It finishes or takes back what a killed process left half done, and
// removes sets that nobody used for a week. The error wraps [ErrState], or
// [ErrUnsupported].
func Open(dir string, o Options) (*Store, error) { return nil, ErrUnsupported }

// New makes an empty set for a target. The caller closes it. The error may be
// one of the target's, such as [ErrTargetGone].
func (s *Store) New(target Target) (*Set, error) { return nil, ErrUnsupported }

// Open returns the set of an id, of any state of it. The caller closes it. The
// error may be [ErrUnknown] or [ErrExpired].
func (s *Store) Open(id string) (*Set, error) { return nil, ErrUnsupported }

// List returns the sets that hold something, the last used first.
func (s *Store) List(ctx context.Context) ([]Info, error) { return nil, ErrUnsupported }

// Applied returns what was applied, the newest first.
func (s *Store) Applied() ([]Applied, error) { return nil, ErrUnsupported }

// Undo brings back what an apply replaced or removed, and removes what it added,
// where the user's files are still what the apply wrote; others are conflicts
// and stay. It can be called again for those. The error may be [ErrUnknown],
// [ErrUndone] or one of the target's.
func (s *Store) Undo(ctx context.Context, id string) (Outcome, error) {
	return Outcome{}, ErrUnsupported
}

// Dir returns the absolute directory in which programs leave their changes, as
// sandbox.Share has it. It is the same as long as the set is there.
func (x *Set) Dir() string { return "" }

// WaitAtMost returns the set with another [Options.Wait].
func (x *Set) WaitAtMost(time.Duration) *Set { return x }

// Target returns what the set is about.
func (x *Set) Target() Target { return Target{} }

// Close ends this use of the set, which may expire from then on. The set stays.
func (x *Set) Close() error { return nil }

// Use is called before programs may write to the set, and release once when the
// last of them is gone. Any number may use a set at once, while no apply or
// discard does: it waits for these until ctx ends, and then fails with
// [ErrBusy]. Release remembers what the user's files were of which programs made
// changes: one that the user changed after Use returned is a conflict.
func (x *Set) Use(ctx context.Context) (release func() error, err error) { return nil, ErrUnsupported }

// Held returns what the set holds, judged. It costs what was changed. While
// programs use the set it is what they did so far.
func (x *Set) Held(ctx context.Context, judge Judge) (Held, error) { return Held{}, ErrUnsupported }

// Diff returns how the held files differ from the user's.
func (x *Set) Diff(ctx context.Context, o DiffOptions) (Diff, error) { return Diff{}, ErrUnsupported }

// Apply writes what is held at paths to the target: all that is there for no
// path, and all below one that is a directory. The id is that of what was looked
// at. It waits until no program uses the set. The error may be [ErrBusy],
// [StaleError], [AppliedError], [ErrTooLarge] or one of the target's; then
// nothing was done. A single path that cannot be applied is no error.
func (x *Set) Apply(ctx context.Context, id string, paths []string, judge Judge) (Outcome, error) {
	return Outcome{}, ErrUnsupported
}

// Discard forgets what is held at paths, as Apply takes them, refused changes
// too, and returns what remains. Errors are as those of Apply.
func (x *Set) Discard(ctx context.Context, id string, paths []string, judge Judge) (Held, error) {
	return Held{}, ErrUnsupported
}
