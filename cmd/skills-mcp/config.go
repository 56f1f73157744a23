package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/config"
)

const configLong = `Print the configuration that is in force as YAML, with where each value comes
from: the default, a line of your file, a variable, a flag, or a line of the
project's .skills-mcp.yaml. What is printed can be used as a file.

The file is skills-mcp/config.yaml in your configuration directory, or the one
that --config or $SKILLS_MCP_CONFIG names. Variables SKILLS_MCP_* win over it,
and flags over these. A project's file can only narrow. docs/configuration.md
has all keys.`

func newConfigCommand(flags *settings.Settings) *cobra.Command {
	var schema bool
	command := &cobra.Command{
		Use:     "config [ROOT...]",
		Short:   "Print the configuration and where it comes from",
		Long:    configLong,
		Example: "  skills-mcp config\n  skills-mcp config --schema > config.schema.json",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, roots []string) error {
			if schema {
				_, err := command.OutOrStdout().Write(config.Schema())
				return err
			}
			if err := flags.Read(roots); err != nil {
				return err
			}
			for _, warning := range flags.Warnings {
				fmt.Fprintf(command.ErrOrStderr(), "skills-mcp: %s\n", terminal.Printable(warning))
			}
			if _, err := command.OutOrStdout().Write(flags.YAML()); err != nil {
				return err
			}
			return flags.ProjectFault()
		},
	}
	command.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of the file instead")
	return command
}
