package main

import (
	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/granted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/inspecting"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/listing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/preparing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

const inspectLong = `Show what there is to know of a skill before it is used: what a model is given of
it and when, with about how many tokens that takes; what it may do and what you
have granted it; which packages, hosts and variables its files ask for; and what
is wrong with it. Nothing of the skill is run, and nothing is granted.`

func newInspectCommand(flags *settings.Settings) *cobra.Command {
	var roots []string
	var asJSON bool
	command := &cobra.Command{
		Use:     "inspect SKILL",
		Short:   "Show what a skill is, may do and asks for",
		Long:    inspectLong,
		Example: "  skills-mcp inspect report\n  skills-mcp inspect --json --root ./my-skills report",
		Args:    exactlyOne("the name of a skill"),
		RunE: func(command *cobra.Command, names []string) error {
			flags.Quiet, flags.Unrecorded = true, true
			runtime, err := open(command.Context(), flags, command.ErrOrStderr(), roots)
			if err != nil {
				return err
			}
			defer runtime.close()
			report, err := inspect(command, flags, runtime, names)
			if err != nil {
				return err
			}
			if asJSON {
				return terminal.PrintJSON(command.OutOrStdout(), report)
			}
			return report.Write(command.OutOrStdout())
		},
	}
	command.Flags().SortFlags = false
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	rootFlag(command, &roots)
	return command
}

func inspect(command *cobra.Command, flags *settings.Settings, r *runtime, names []string) (*inspecting.Report, error) {
	plans, err := preparing.Plans(command.Context(), flags, r.environments(), r.catalog, r.copies, names)
	if err != nil {
		return nil, err
	}
	own, err := flags.Grants(names[0])
	if err != nil {
		return nil, err
	}
	skill, _ := r.catalog.Snapshot().Lookup(names[0])
	list := listing.New(command.Context(), r.catalog, nil, flags.Disables)
	return inspecting.New(command.Context(), skill, plans[0], granted.Lines(own), list.Of(skill.Name))
}
