package changesets

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// List prints which sets hold something.
func List(command *cobra.Command, store *changes.Store, asJSON bool) error {
	all, err := store.List(command.Context())
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	if asJSON {
		return terminal.PrintJSON(out, append([]changes.Info{}, all...))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "No changes are held: your files are as you left them.")
		return err
	}
	for _, info := range all {
		fmt.Fprintf(out, "%s  %s\n    %s, %s\n", info.ID, terminal.Printable(info.Target.Path), countKinds(info), info.Used.Local().Format(time.DateTime))
		if info.Target.Skill != "" {
			fmt.Fprintf(out, "    of the skill %s\n", terminal.Printable(info.Target.Skill))
		}
		if info.Running {
			fmt.Fprintln(out, "    a program is running there")
		}
		if info.Problem != "" {
			fmt.Fprintf(out, "    cannot be read: %s\n", terminal.Printable(info.Problem))
		}
	}
	return nil
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

// ListApplied prints what can be taken back.
func ListApplied(command *cobra.Command, store *changes.Store, asJSON bool) error {
	all, err := store.Applied()
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	if asJSON {
		return terminal.PrintJSON(out, append([]changes.Applied{}, all...))
	}
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "Nothing was applied that could be taken back.")
		return err
	}
	for _, applied := range all {
		fmt.Fprintf(out, "%s  %s  %s in %s", applied.ID, applied.When.Local().Format(time.DateTime), terminal.Counted(len(applied.Changes), "change"), terminal.Printable(applied.Target.Path))
		if applied.Interrupted {
			fmt.Fprint(out, ", interrupted")
		}
		if !applied.Undone.IsZero() {
			fmt.Fprintf(out, ", taken back %s", applied.Undone.Local().Format(time.DateTime))
		}
		fmt.Fprintln(out)
	}
	return nil
}
