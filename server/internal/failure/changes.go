package failure

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// ofChanges maps the errors of change sets, other than those of directories.
func ofChanges(err error) *Failure {
	var (
		stale   *changes.StaleError
		applied *changes.AppliedError
	)
	switch {
	case errors.As(err, &stale):
		return &Failure{Code: ChangesStale, Message: "the changes are others now than those that were looked at", Hint: afterStale(stale.Held), Cause: err}
	case errors.As(err, &applied):
		return &Failure{Code: ChangesApplied, Message: "these changes were applied already, at " + applied.When.Format(time.DateTime), Cause: err,
			Hint: afterApplied(applied)}
	case errors.Is(err, changes.ErrUnknown):
		return &Failure{Code: ChangesUnknown, Message: "no change set has that id", Hint: "Give the id of the newest result that names one; exec returns it.", Cause: err}
	case errors.Is(err, changes.ErrExpired):
		return split(ChangesExpired, changes.ErrExpired, err)
	case errors.Is(err, changes.ErrBusy):
		return split(ChangesBusy, changes.ErrBusy, err)
	}
	return split(ChangesTooLarge, changes.ErrTooLarge, err)
}

// afterApplied says what to do where an id was applied, be it in part.
func afterApplied(applied *changes.AppliedError) string {
	undo := "The user can take it back with: skills-mcp undo " + applied.Undo
	if len(applied.Held.Files)+applied.Held.OmittedFiles == 0 {
		return "Nothing is left to do. " + undo
	}
	return undo + ". More is held: " + afterStale(applied.Held)
}

// afterStale says what to do where a set holds this now.
func afterStale(held changes.Held) string {
	switch n := len(held.Files) + held.OmittedFiles; n {
	case 0:
		return "Nothing is held now that could be applied: run again what makes the changes if the user still wants them."
	case 1:
		return fmt.Sprintf("The id is %s now, with 1 change. Look at it, tell the user, and apply it by that id.", held.ID)
	default:
		return fmt.Sprintf("The id is %s now, with %d changes. Look at them, tell the user, and apply them by that id.", held.ID, n)
	}
}

// unusableChanges maps the errors of the directories that changes are about, or
// are kept in.
func unusableChanges(err error) *Failure {
	for _, known := range []error{changes.ErrTargetGone, changes.ErrTargetReplaced, changes.ErrTargetUnusable, changes.ErrFull, changes.ErrUnsupported} {
		if errors.Is(err, known) {
			return split(ChangesUnusable, known, err)
		}
	}
	return split(ChangesUnusable, changes.ErrState, err)
}

// split takes the advice of a message, which follows a colon, for the hint.
func split(code Code, known, cause error) *Failure {
	message, hint, _ := strings.Cut(known.Error(), ": ")
	if hint != "" {
		hint = strings.ToUpper(hint[:1]) + hint[1:] + "."
	}
	return &Failure{Code: code, Message: message, Hint: hint, Cause: cause}
}
