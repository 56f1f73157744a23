package main

import (
	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/changesets"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

const changesLong = `Show what programs of skills changed in your files and is not applied yet.

Without ID it lists the change sets that hold something; with one it prints a
unified diff, in colour on a terminal (unless NO_COLOR is set). Nothing of it is
in your files before 'skills-mcp apply', or applyChanges in your host.`

func newChangesCommand(flags *settings.Settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "changes [--json] [ID]",
		Short:   "Show what programs changed in your files and is not applied",
		Long:    changesLong,
		Example: "  skills-mcp changes\n  skills-mcp changes cs-0123456789abcdef-01234567",
		Args:    counted(cobra.MaximumNArgs(1)),
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	command.RunE = changesets.ListOr(flags, &asJSON, changesets.List, func(command *cobra.Command, store *changes.Store, id string) error {
		set, err := changesets.OpenSet(flags, store, id)
		if err != nil {
			return err
		}
		defer set.Close()
		return set.Show(command, asJSON)
	})
	return command
}
