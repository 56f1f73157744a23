package changesets

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// Show prints what is held.
func (s *Set) Show(command *cobra.Command, asJSON bool) error {
	held, err := s.set.Held(command.Context(), s.judge())
	if err != nil {
		return err
	}
	if asJSON {
		return terminal.PrintJSON(command.OutOrStdout(), held)
	}
	return s.print(command, held, nil)
}

// print prints what is held at paths, or all.
func (s *Set) print(command *cobra.Command, held changes.Held, paths []string) error {
	diff, err := s.set.Diff(command.Context(), changes.DiffOptions{Paths: paths, Judge: s.judge(), Show: s.settings.Redact.String})
	if err != nil {
		return err
	}
	if diff.ID != held.ID { // a program has changed more meanwhile
		return &changes.StaleError{Held: held}
	}
	out := command.OutOrStdout()
	fmt.Fprintf(out, "%s in %s\n", held.ID, terminal.Printable(s.set.Target().Path))
	fmt.Fprint(out, terminal.Coloured(out, diff.Text))
	if diff.Omitted > 0 {
		fmt.Fprintf(out, "%d more changes are not shown; name paths to see them.\n", diff.Omitted)
	}
	for _, change := range held.Files {
		if change.Conflict != "" {
			fmt.Fprintf(out, "conflict: %s: %s\n", terminal.Printable(change.Path), terminal.Printable(change.Conflict))
		}
	}
	for _, refusal := range held.Refused {
		fmt.Fprintf(out, "cannot be applied: %s: %s\n", terminal.Printable(refusal.Path), terminal.Printable(refusal.Reason))
	}
	return nil
}
