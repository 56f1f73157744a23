package failure

import (
	"fmt"

	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

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
