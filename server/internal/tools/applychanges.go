package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
)

type applyArguments struct {
	Changes string   `json:"changes"`
	Paths   []string `json:"paths"`
	Discard bool     `json:"discard"`
}

// applier writes held changes to the user's files.
type applier struct {
	shares *shares.Access
	door   *consent.Door
}

func applyChanges(a applier) Tool {
	definition := define("applyChanges", runs, "Apply held changes to the user's files",
		"Write what programs changed in the user's project to the project itself, once the user wants that: until then results only hold it. Give the `changes` id of the newest result; `paths` takes some of them, `discard` throws them away instead. A file that the user changed meanwhile is a conflict and stays.",
		0,
		mcp.WithString("changes", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(128),
			mcp.Description("Id of the change set, such as cs-0123456789abcdef-01234567, as the newest result has it.")),
		mcp.WithArray("paths", mcp.MaxItems(1000), mcp.WithStringItems(mcp.MinLength(1), mcp.MaxLength(8192)),
			mcp.Description("Paths of held files, or of directories, relative to the project. All that is held if absent.")),
		mcp.WithBoolean("discard",
			mcp.Description("Throw the changes away instead of applying them.")),
		mcp.WithRawOutputSchema(appliedSchema),
	)
	// Claude Code asks its user at every call then, whatever was allowed before.
	definition.Meta.AdditionalFields["anthropic/requiresUserInteraction"] = true
	return newTool(definition, a.apply).shownOn(cards.Changes)
}

// appliedSchema describes the structured content of an answer.
var appliedSchema = json.RawMessage(`{
  "type": "object",
  "properties": {
    "changes": {"type": "string", "description": "The id that was given; what is held now is in remaining, with the id that it has now."},
    "of": {"type": "string", "description": "The user's directory."},
    "applied": {"type": "array", "description": "What was written to it.", "items": ` + shares.ChangeSchema + `},
    "appliedOmitted": {"type": "integer", "description": "How many more were written than are listed."},
    "conflicts": {"type": "array", "description": "What the user changed meanwhile, which stays as it is.", "items": ` + shares.RefusalSchema + `},
    "conflictsOmitted": {"type": "integer"},
    "refused": {"type": "array", "description": "What must not or could not be written.", "items": ` + shares.RefusalSchema + `},
    "refusedOmitted": {"type": "integer"},
    "remaining": ` + shares.ChangeSetSchema + `,
    "undo": {"type": "string", "description": "What 'skills-mcp undo' takes to bring back what was there before."},
    "discarded": {"type": "boolean"},
    "declined": {"type": "string", "description": "The user did not want it, so nothing was done."}
  },
  "required": ["changes", "of", "applied", "conflicts", "refused", "remaining"]
}`)

// applied holds all that a model needs, as results with structure do.
type applied struct {
	Changes          string            `json:"changes"`
	Of               string            `json:"of"`
	Applied          []changes.Change  `json:"applied"`
	AppliedOmitted   int               `json:"appliedOmitted,omitempty"`
	Conflicts        []changes.Refusal `json:"conflicts"`
	ConflictsOmitted int               `json:"conflictsOmitted,omitempty"`
	Refused          []changes.Refusal `json:"refused"`
	RefusedOmitted   int               `json:"refusedOmitted,omitempty"`
	Remaining        shares.ChangeSet  `json:"remaining"`
	Undo             string            `json:"undo,omitempty"`
	Discarded        bool              `json:"discarded,omitempty"`
	Declined         string            `json:"declined,omitempty"`
}

func (a applier) apply(ctx context.Context, arguments applyArguments) (*mcp.CallToolResult, error) {
	set, err := a.shares.Open(ctx, arguments.Changes)
	if err != nil {
		return nil, err
	}
	defer set.Close()
	record := func(became audit.Changes) {
		request.Note(ctx, func(r *audit.Record) { r.Skill, r.Changes = set.Target().Skill, []audit.Changes{became} })
	}
	done := applied{
		Changes: arguments.Changes, Of: set.Target().Path,
		Applied: []changes.Change{}, Conflicts: []changes.Refusal{}, Refused: []changes.Refusal{},
	}
	if arguments.Discard {
		held, err := set.Discard(ctx, arguments.Changes, arguments.Paths)
		if err != nil {
			return nil, err
		}
		record(audit.Changes{ID: arguments.Changes, Of: done.Of, Held: len(held.Files) + held.OmittedFiles, Discarded: true})
		done.Discarded, done.Remaining = true, set.Summary(held)
		return done.result(), nil
	}
	if err := a.ask(ctx, set, arguments); err != nil {
		declined, ok := errors.AsType[*consent.Declined](err)
		if !ok {
			return nil, err
		}
		held, heldErr := set.Held(ctx)
		if heldErr != nil {
			return nil, heldErr
		}
		done.Declined, done.Remaining = declined.Error(), set.Summary(held)
		return done.result(), nil
	}
	outcome, err := set.Apply(ctx, arguments.Changes, arguments.Paths)
	if err != nil {
		return nil, err
	}
	record(shares.RecordOutcome(arguments.Changes, done.Of, outcome))
	done.Applied, done.AppliedOmitted = shares.Bounded(outcome.Applied, 0)
	done.Conflicts, done.ConflictsOmitted = shares.Bounded(outcome.Conflicts, 0)
	done.Refused, done.RefusedOmitted = shares.Bounded(outcome.Refused, 0)
	done.Undo, done.Remaining = outcome.Undo, set.Summary(outcome.Remaining)
	return done.result(), nil
}

// ask has the user consent, where it is not the host who asks.
func (a applier) ask(ctx context.Context, set *shares.Set, arguments applyArguments) error {
	question, err := a.question(ctx, set, arguments)
	if err != nil {
		return err
	}
	_, err = a.door.Ask(ctx, question)
	return err
}

func (done applied) result() *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent(done.text())}, StructuredContent: done}
}

// text is the same as the structure, for hosts that show only text.
func (done applied) text() string {
	var text strings.Builder
	switch {
	case done.Declined != "":
		text.WriteString(done.Declined + "\n")
	case done.Discarded:
		text.WriteString("Discarded. The user's files are as they were.\n")
	default:
		fmt.Fprintf(&text, "Applied to %s: %s.\n", display.Path(done.Of), display.Counted(len(done.Applied)+done.AppliedOmitted, "change"))
	}
	for _, change := range done.Applied {
		fmt.Fprintf(&text, "%s: %s\n", change.Kind, display.Path(change.Path))
	}
	for _, conflict := range done.Conflicts {
		fmt.Fprintf(&text, "conflict, left as the user has it: %s: %s\n", display.Path(conflict.Path), conflict.Reason)
	}
	for _, refusal := range done.Refused {
		fmt.Fprintf(&text, "refused: %s: %s\n", display.Path(refusal.Path), refusal.Reason)
	}
	for _, more := range []struct {
		what string
		n    int
	}{{"applied", done.AppliedOmitted}, {"conflicts", done.ConflictsOmitted}, {"refused", done.RefusedOmitted}} {
		if more.n > 0 {
			fmt.Fprintf(&text, "%s: %d more\n", more.what, more.n)
		}
	}
	if done.Undo != "" {
		fmt.Fprintf(&text, "The user can take it back with: skills-mcp undo %s\n", done.Undo)
	}
	done.Remaining.WriteText(&text)
	return text.String()
}
