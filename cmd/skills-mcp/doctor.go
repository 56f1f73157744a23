package main

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/backends"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/diagnosing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
)

const doctorLong = `Try what this program needs, and say what does not work and what to do: the
configuration, the folders of skills and whether they can be watched, every sandbox
and the interpreters in it, the audit log, and the hosts in which this server is
registered, whose entries are started as the host does.

The exit code is 1 where something that you asked for cannot work; warnings do not
count. Nothing of yours is changed.`

func newDoctorCommand(flags *settings.Settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "doctor [ROOT...]",
		Short:   "Find out what works here and what does not",
		Long:    doctorLong,
		Example: "  skills-mcp doctor\n  skills-mcp doctor --sandbox=docker --json ./my-skills",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, roots []string) error {
			report := diagnosing.Report{Version: programVersion(), Findings: []diagnosing.Finding{}}
			diagnose(command.Context(), flags, roots, &report)
			print := report.Write
			if asJSON {
				print = report.JSON
			}
			if err := print(command.OutOrStdout()); err != nil {
				return err
			}
			if err := command.Context().Err(); err != nil || report.OK() {
				return err
			}
			return exit.ErrReported
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// diagnose looks at everything. What cannot be looked at since something else is
// wrong is left out.
func diagnose(ctx context.Context, flags *settings.Settings, roots []string, report *diagnosing.Report) {
	log := slog.New(slog.DiscardHandler) // what is wrong is a finding
	if report.Configuration(flags, roots) {
		if found, err := flags.CatalogRoots(); err != nil {
			report.Failed("roots", err)
		} else if opened, err := openCatalog(ctx, flags, log, found); err != nil {
			report.Failed("roots", err)
		} else {
			report.Roots(ctx, flags, found, opened)
			report.Close("roots", opened)
		}
		if tried, err := backends.TryAll(ctx, flags, log); err != nil {
			report.Failed("sandbox", err)
		} else {
			report.Sandboxes(ctx, flags, tried)
			for _, each := range tried {
				if each.Backend != nil {
					report.Close("sandbox", each.Backend)
				}
			}
		}
		report.Audit(flags, log)
	}
	report.Hosts(ctx)
}
