package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/records"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
)

const usageLong = `Print how often each skill was used, how it went, how long that took and when it
was last: what the audit log sums up to, as 'skills-mcp audit --summary' has it.
Skills that are not named were not used.`

func newUsageCommand(flags *settings.Settings) *cobra.Command {
	wanted := auditFlags{form: records.Form{Summary: true}}
	command := &cobra.Command{
		Use:     "usage [SKILL]",
		Short:   "Print how often each skill was used, and how it went",
		Long:    usageLong,
		Example: "  skills-mcp usage --since 30d\n  skills-mcp usage --json csv-profile",
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) > 1 {
				return exit.Misused(errors.New("usage takes the name of one skill, or none for all"))
			}
			return nil
		},
		RunE: func(command *cobra.Command, names []string) error {
			if len(names) > 0 {
				wanted.skill = names[0]
			}
			return showAudit(command, flags, wanted)
		},
	}
	own := command.Flags()
	own.SortFlags = false
	sinceFlag(own, &wanted.since)
	own.BoolVar(&wanted.form.JSON, "json", false, "print one JSON object")
	return command
}
