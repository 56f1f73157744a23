package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

const changesLong = `Show what programs of skills changed in your files and is not applied yet.

Without ID it lists the change sets that hold something; with one it prints a
unified diff, in colour on a terminal (unless NO_COLOR is set). Nothing of it is
in your files before 'skills-mcp apply', or applyChanges in your host.`

func newChangesCommand(flags *settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "changes [--json] [ID]",
		Short:   "Show what programs changed in your files and is not applied",
		Long:    changesLong,
		Example: "  skills-mcp changes\n  skills-mcp changes cs-0123456789abcdef-01234567",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			store, err := flags.openChanges(command.ErrOrStderr())
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return listChanges(command, store, asJSON)
			}
			return showChanges(command, flags, store, args[0], asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return command
}

// listedChanges is a change set as --json prints it.
type listedChanges struct {
	ID      string               `json:"id"`
	Target  changes.Target       `json:"target"`
	Created time.Time            `json:"created"`
	Used    time.Time            `json:"used"`
	Changes map[changes.Kind]int `json:"changes"`
	Refused int                  `json:"refused,omitempty"`
	Running bool                 `json:"running,omitempty"`
	Problem string               `json:"problem,omitempty"`
}

func listChanges(command *cobra.Command, store *changes.Store, asJSON bool) error {
	all, err := store.List(command.Context())
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	if asJSON {
		listed := []listedChanges{}
		for _, info := range all {
			listed = append(listed, listedChanges(info))
		}
		return printJSON(out, listed)
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "No changes are held: your files are as you left them.")
		return err
	}
	for _, info := range all {
		fmt.Fprintf(out, "%s  %s\n    %s, %s\n", info.ID, printable(info.Target.Path), countKinds(info), info.Used.Local().Format(time.DateTime))
		if info.Target.Skill != "" {
			fmt.Fprintf(out, "    of the skill %s\n", printable(info.Target.Skill))
		}
		if info.Running {
			fmt.Fprintln(out, "    a program is running there")
		}
		if info.Problem != "" {
			fmt.Fprintf(out, "    cannot be read: %s\n", printable(info.Problem))
		}
	}
	return nil
}

// countChanges says how many changes there are.
func countChanges(n int) string {
	if n == 1 {
		return "1 change"
	}
	return fmt.Sprintf("%d changes", n)
}

// countKinds says how many changes of each kind there are.
func countKinds(info changes.Info) string {
	var counts []string
	for _, kind := range []changes.Kind{changes.Added, changes.Modified, changes.Deleted, changes.Mode} {
		if n := info.Changes[kind]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if info.Refused > 0 {
		counts = append(counts, fmt.Sprintf("%d that cannot be applied", info.Refused))
	}
	if len(counts) == 0 {
		return "nothing"
	}
	return strings.Join(counts, ", ")
}

func showChanges(command *cobra.Command, flags *settings, store *changes.Store, id string, asJSON bool) error {
	set, err := flags.openSet(store, id)
	if err != nil {
		return err
	}
	defer set.Close()
	held, err := set.Held(command.Context(), set.judge)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(command.OutOrStdout(), held)
	}
	return set.print(command, held, nil)
}

// print prints what is held at paths, or all.
func (s *judgedSet) print(command *cobra.Command, held changes.Held, paths []string) error {
	diff, err := s.Diff(command.Context(), changes.DiffOptions{Paths: paths, Judge: s.judge})
	if err != nil {
		return err
	}
	if diff.ID != held.ID { // a program has changed more meanwhile
		return &changes.StaleError{Held: held}
	}
	out := command.OutOrStdout()
	fmt.Fprintf(out, "%s in %s\n", held.ID, printable(s.Target().Path))
	fmt.Fprint(out, coloured(out, diff.Text))
	if diff.Omitted > 0 {
		fmt.Fprintf(out, "%d more changes are not shown; name paths to see them.\n", diff.Omitted)
	}
	for _, change := range held.Files {
		if change.Conflict != "" {
			fmt.Fprintf(out, "conflict: %s: %s\n", printable(change.Path), printable(change.Conflict))
		}
	}
	for _, refusal := range held.Refused {
		fmt.Fprintf(out, "cannot be applied: %s: %s\n", printable(refusal.Path), printable(refusal.Reason))
	}
	return nil
}
