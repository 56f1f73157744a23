package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/changesets"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server"
)

const undoLong = `Take back what was applied to your files.

Without ID it lists what can be taken back, the newest first. A file that is not
as it was written any more stays as it is, and the exit code is 1.`

func newUndoCommand(flags *settings.Settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "undo [--json] [ID]",
		Short:   "Take back what was applied to your files",
		Long:    undoLong,
		Example: "  skills-mcp undo\n  skills-mcp undo ap-0123456789abcdef",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			store, err := changesets.Open(flags, command.ErrOrStderr())
			if err != nil {
				return err
			}
			if len(args) == 0 {
				return changesets.ListApplied(command, store, asJSON)
			}
			return flags.Recorded(command.ErrOrStderr(), audit.Record{Event: audit.Apply, Method: "undo"}, func(record *audit.Record) error {
				outcome, err := store.Undo(command.Context(), args[0])
				if errors.Is(err, changes.ErrUnknown) {
					return fmt.Errorf("%w: 'skills-mcp undo' lists them", err)
				}
				if err != nil {
					return err
				}
				record.Changes = []audit.Changes{server.RecordOutcome(args[0], "", outcome)}
				return changesets.PrintOutcome(command.OutOrStdout(), outcome)
			})
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON; for the list")
	return command
}
