package main

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/changesets"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
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
		Args:    counted(cobra.MaximumNArgs(1)),
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print JSON; for the list")
	command.RunE = changesets.ListOr(flags, &asJSON, changesets.ListApplied, func(command *cobra.Command, store *changes.Store, id string) error {
		return flags.Recorded(command.ErrOrStderr(), audit.Record{Event: audit.Apply, Method: "undo"}, func(record *audit.Record) error {
			return undo(command, store, id, record)
		})
	})
	return command
}

// undo takes back an apply, and says what was done of it also where that cannot
// be noted.
func undo(command *cobra.Command, store *changes.Store, id string, record *audit.Record) error {
	outcome, err := store.Undo(command.Context(), id)
	switch {
	case errors.Is(err, changes.ErrUnknown):
		return exit.Misused(errors.New("unknown id: 'skills-mcp undo' lists what can be taken back"))
	case err != nil && !errors.Is(err, changes.ErrUnnoted):
		return err
	}
	record.Changes = []audit.Changes{server.RecordOutcome(id, "", outcome)}
	return cmp.Or(err, changesets.PrintOutcome(command.OutOrStdout(), outcome))
}
