package shares

import (
	"fmt"
	"strings"

	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// maxWritten is how many changes a text lists.
const maxWritten = 20

// WriteText writes what is held, and what to do with it.
func (s ChangeSet) WriteText(text *strings.Builder) {
	if s.Fault != "" {
		fmt.Fprintf(text, "changes to %s cannot be looked at: %s\n", display.Path(s.Of), s.Fault)
	}
	writeChanges(text, "applied at once", s.Applied, s.AppliedOmitted)
	writeRefusals(text, "conflict", s.Conflicts, s.ConflictsOmitted)
	writeRefusals(text, "can never be applied", s.Refused, s.RefusedOmitted)
	if s.Undo != "" {
		fmt.Fprintf(text, "the user can take it back with: skills-mcp undo %s\n", s.Undo)
	}
	n := len(s.Held) + s.Omitted
	if n == 0 {
		return
	}
	fmt.Fprintf(text, "%s held, NOT in %s yet:\n", display.Counted(n, "change"), display.Path(s.Of))
	writeChanges(text, "held", s.Held, s.Omitted)
	fmt.Fprintf(text, "Look at them with readResource path %s (a diff; %s/<path> is a file). When the user wants them: applyChanges {\"changes\": %q}. Until then tell the user that they are not in the project.\n",
		uriOf(s.ID, ""), uriOf(s.ID, ""), s.ID)
}

func writeChanges(text *strings.Builder, what string, list []changes.Change, omitted int) {
	for _, change := range list[:min(len(list), maxWritten)] {
		fmt.Fprintf(text, "%s: %s %s", what, change.Kind, display.Path(change.Path))
		if change.Mode.IsRegular() && change.Kind != changes.Deleted {
			fmt.Fprintf(text, " (%s)", display.Size(change.Size))
		}
		if change.Conflict != "" {
			fmt.Fprintf(text, ", which is a conflict: %s", change.Conflict)
		}
		text.WriteByte('\n')
	}
	if more := len(list) - maxWritten + omitted; more > 0 && len(list) >= maxWritten {
		fmt.Fprintf(text, "%s: %d more\n", what, more)
	}
}

func writeRefusals(text *strings.Builder, what string, list []changes.Refusal, omitted int) {
	for _, refusal := range list[:min(len(list), maxWritten)] {
		fmt.Fprintf(text, "%s: %s: %s\n", what, display.Path(refusal.Path), refusal.Reason)
	}
	if more := len(list) - maxWritten + omitted; more > 0 && len(list) >= maxWritten {
		fmt.Fprintf(text, "%s: %d more\n", what, more)
	}
}

// WriteText writes what a run saw and changed.
func (r Report) WriteText(text *strings.Builder) {
	seen := r.Shares
	if r.Project != nil {
		seen = append([]Shown{*r.Project}, seen...)
	}
	for _, shown := range seen {
		switch {
		case shown.Reason != "" && shown.Path != "":
			fmt.Fprintf(text, "%s: %s. %s\n", display.Path(shown.Path), shown.Access, shown.Reason)
		case shown.Reason != "":
			fmt.Fprintf(text, "the user's files are not shown: %s\n", shown.Reason)
		}
	}
	if r.Changes != nil {
		r.Changes.WriteText(text)
	}
	for _, set := range r.OtherChanges {
		set.WriteText(text)
	}
}
