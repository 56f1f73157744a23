package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/listing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

func newListCommand(flags *settings.Settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "list [ROOT...]",
		Short:   "Print the skills and what is wrong with them",
		Long:    "Print the skills and what is wrong with them. The exit code is 1 where an error\nkeeps something out; warnings do not count.",
		Example: "  skills-mcp list ./my-skills\n  skills-mcp list --strict --json ./my-skills",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, roots []string) error {
			flags.Unrecorded = true // nothing is called
			done := terminal.Progress(command.ErrOrStderr(), "looking at the skills")
			defer done()
			// What the scan would log is printed.
			runtime, err := open(command.Context(), flags, io.Discard, roots)
			if err != nil {
				return err
			}
			defer runtime.close()
			shown := strings.FieldsFunc(runtime.backend.Info().Shown, func(r rune) bool { return r == '\n' })
			list := listing.New(command.Context(), runtime.catalog, shown, flags.Disables)
			done()
			print := list.Text
			if asJSON {
				print = list.JSON
			}
			if err := print(command.OutOrStdout()); err != nil {
				return err
			}
			if err := flags.ProjectFault(); err != nil || !list.Faulty() {
				return err
			}
			return exit.ErrReported
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}
