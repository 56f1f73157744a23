package changesets

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server"
)

// Apply shows what is held at paths, or all, asks unless that is answered, and
// writes it. What is written is what was shown: it has the same id.
func (s *Set) Apply(command *cobra.Command, paths []string, yes bool) error {
	ctx, id := command.Context(), s.id
	if !yes {
		held, err := s.set.Held(ctx, s.judge())
		if err == nil {
			id = held.ID
			err = s.print(command, held, paths)
		}
		if err != nil {
			return err
		}
		if len(held.Files) == 0 {
			return errors.New("there is nothing that can be applied")
		}
		if agreed, err := terminal.Ask(command, "Write this to "+terminal.Printable(s.set.Target().Path)+"?"); err != nil || !agreed {
			return err
		}
	}
	return s.settings.Recorded(command.ErrOrStderr(), s.record("apply"), func(record *audit.Record) error {
		outcome, err := s.set.Apply(ctx, id, paths, s.judge())
		if err != nil {
			return err
		}
		record.Changes = []audit.Changes{server.RecordOutcome(id, s.set.Target().Path, outcome)}
		return PrintOutcome(command.OutOrStdout(), outcome)
	})
}

// record is what the audit log has of a command about the set.
func (s *Set) record(name string) audit.Record {
	return audit.Record{Event: audit.Apply, Method: name, Skill: s.set.Target().Skill, Workspace: s.set.Target().Workspace}
}

// Discard asks in the same way and forgets what is held.
func (s *Set) Discard(command *cobra.Command, paths []string, yes bool) error {
	if !yes {
		if agreed, err := terminal.Ask(command, "Throw the changes away?"); err != nil || !agreed {
			return err
		}
	}
	return s.settings.Recorded(command.ErrOrStderr(), s.record("apply --discard"), func(record *audit.Record) error {
		left, err := s.set.Discard(command.Context(), s.id, paths, s.judge())
		if err != nil {
			return err
		}
		held := len(left.Files) + left.OmittedFiles
		record.Changes = []audit.Changes{{ID: s.id, Of: s.set.Target().Path, Held: held, Discarded: true}}
		_, err = fmt.Fprintf(command.OutOrStdout(), "Discarded. Held is still: %s.\n", terminal.Counted(held, "change"))
		return err
	})
}

// PrintOutcome says what was done. It is an error where not all was.
func PrintOutcome(out io.Writer, outcome changes.Outcome) error {
	for _, change := range outcome.Applied {
		fmt.Fprintf(out, "%-8s  %s\n", change.Kind, terminal.Printable(change.Path))
	}
	for _, conflict := range outcome.Conflicts {
		fmt.Fprintf(out, "conflict  %s: %s\n", terminal.Printable(conflict.Path), terminal.Printable(conflict.Reason))
	}
	for _, refusal := range outcome.Refused {
		fmt.Fprintf(out, "refused   %s: %s\n", terminal.Printable(refusal.Path), terminal.Printable(refusal.Reason))
	}
	if outcome.Undo != "" {
		fmt.Fprintf(out, "Take it back with: skills-mcp undo %s\n", outcome.Undo)
	}
	if len(outcome.Conflicts)+len(outcome.Refused) > 0 {
		return exit.ErrReported
	}
	return nil
}
