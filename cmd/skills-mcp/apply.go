package main

import (
	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/changesets"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
)

const applyLong = `Write what programs of skills changed to your files.

It shows the changes and asks, unless --yes is given. Each file is written as a
whole or not at all. What you changed yourself meanwhile is a conflict and stays
as it is, and what must not be changed is refused; then the exit code is 1.
'skills-mcp undo' takes it back.`

func newApplyCommand(flags *settings.Settings) *cobra.Command {
	var paths []string
	var yes, discard bool
	command := &cobra.Command{
		Use:     "apply [--paths PATH...] [--discard] [--yes] ID",
		Short:   "Write held changes to your files",
		Long:    applyLong,
		Example: "  skills-mcp apply cs-0123456789abcdef-01234567\n  skills-mcp apply --paths docs cs-0123456789abcdef-01234567",
		Args:    exactlyOne("the id of a change set; 'skills-mcp changes' lists them"),
		RunE: func(command *cobra.Command, args []string) error {
			store, err := changesets.Open(flags, command.ErrOrStderr())
			if err != nil {
				return err
			}
			set, err := changesets.OpenSet(flags, store, args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			if discard {
				return set.Discard(command, paths, yes)
			}
			return set.Apply(command, paths, yes)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringArrayVar(&paths, "paths", nil, "`PATH` of a held file or of a directory, relative to the project (repeatable);\nall that is held if absent")
	command.Flags().BoolVar(&discard, "discard", false, "throw the changes away instead")
	command.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return command
}
