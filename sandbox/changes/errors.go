package changes

import (
	"errors"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/changes/internal/overlay"
)

// Each has a message that can be shown as it is, without host paths.
var (
	// ErrUnsupported means that this system has no change sets.
	ErrUnsupported = errors.New("changes to the user's files cannot be held on this system, only on Linux")
	// ErrUnknown means that an id names nothing that there ever was.
	ErrUnknown = errors.New("unknown change set: look which there are")
	// ErrExpired means that a set was removed because nobody used it for a week.
	ErrExpired = errors.New("expired change set: it was removed after a week without use, and the user's files are as they were; run again what made the changes")
	// ErrBusy means that programs, or another apply, use the set, and did so until
	// the context ended.
	ErrBusy = errors.New("the change set is in use by a run or by another apply: try again when that has ended")
	// ErrStale is wrapped by [StaleError].
	ErrStale = errors.New("the changes are others now than those that were looked at: look again, and apply with the new id")
	// ErrApplied is wrapped by [AppliedError].
	ErrApplied = errors.New("these changes were applied already")
	// ErrUndone means that what is to be undone was undone before.
	ErrUndone = errors.New("this was undone already")
	// ErrTooLarge means that a set holds more than can be looked at, or that an
	// apply replaces more than may be kept to undo it.
	ErrTooLarge = overlay.ErrTooLarge
	// ErrTargetGone means that the target is not there any more: it was removed,
	// renamed, or what held it is not mounted.
	ErrTargetGone = errors.New("the directory that the changes are about is not there any more: bring it back to its path, or discard the changes")
	// ErrTargetReplaced means that another directory, or a link, has its path.
	ErrTargetReplaced = errors.New("another directory is now where the changes were made: bring the first one back, or discard the changes")
	// ErrTargetUnusable means that the target is there and cannot be opened.
	ErrTargetUnusable = errors.New("the directory that the changes are about cannot be opened: its permissions may have changed")
	// ErrUnnoted means that all was done that an undo could do, as its outcome says,
	// and that this could not be written down.
	ErrUnnoted = errors.New("what was taken back could not be noted: 'skills-mcp undo' may list it still")
	// ErrFull means that there is no room for what an apply or a set needs.
	ErrFull = errors.New("the disk of the directory for change sets is full: make room there, and try again")
	// ErrState means that the directory of the store is not safe to use, or that
	// what is in it cannot be read.
	ErrState = errors.New("the directory for change sets cannot be used: it must be a directory of this user alone")
)

// StaleError says what a set holds instead of what was looked at. It wraps
// [ErrStale].
type StaleError struct{ Held Held }

func (e *StaleError) Error() string { return ErrStale.Error() }

// Unwrap returns [ErrStale].
func (e *StaleError) Unwrap() error { return ErrStale }

// AppliedError says that an id was applied already, when, how to undo it, and
// what the set holds now. It wraps [ErrApplied].
type AppliedError struct {
	Undo string // as [Outcome.Undo]
	When time.Time
	Held Held
}

func (e *AppliedError) Error() string {
	return ErrApplied.Error() + " at " + e.When.Format(time.DateTime)
}

// Unwrap returns [ErrApplied].
func (e *AppliedError) Unwrap() error { return ErrApplied }
