package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/config"
)

const configLong = `Print the configuration that is in force as YAML, with where each value comes
from: the default, a line of your file, a variable, a flag, or a line of the
project's .skills-mcp.yaml. What is printed can be used as a file.

The file is skills-mcp/config.yaml in your configuration directory, or the one
that --config or $SKILLS_MCP_CONFIG names. Variables SKILLS_MCP_* win over it,
and flags over these. A project's file can only narrow. docs/configuration.md
has all keys.`

func newConfigCommand(flags *settings) *cobra.Command {
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
			if err := flags.read(roots); err != nil {
				return err
			}
			for _, warning := range flags.Warnings {
				fmt.Fprintf(command.ErrOrStderr(), "skills-mcp: %s\n", printable(warning))
			}
			if _, err := command.OutOrStdout().Write(flags.YAML()); err != nil {
				return err
			}
			return flags.projectFault()
		},
	}
	command.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of the file instead")
	return command
}

// projectFault says why a project's file cannot be used, or returns nil.
func (s *settings) projectFault() error {
	if s.ProjectError == nil {
		return nil
	}
	return fmt.Errorf("the project's %s cannot be used, so nothing runs, and nothing of the project is shown or changed:\n%s", config.ProjectFile, linesOf(s.ProjectError))
}

// linesOf shows an error of several lines, in which text of others stands.
func linesOf(err error) string {
	lines := strings.Split(err.Error(), "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// firstFault returns the first thing that an error says.
func firstFault(err error) string {
	var refused *config.Error
	if errors.As(err, &refused) {
		return strings.TrimSuffix(printable(refused.Faults[0].String()), ".")
	}
	return printable(err.Error())
}

// warn logs what of the configuration is not in force.
func (s *settings) warn(log *slog.Logger) {
	for _, warning := range s.Warnings {
		log.Warn(warning)
	}
	if s.ProjectError != nil {
		log.Error("the project's "+config.ProjectFile+" cannot be used, so nothing runs, and nothing of the project is shown or changed", "error", s.ProjectError)
	}
}

// warnOfNames logs which names of the configuration are those of no skill.
func (s *settings) warnOfNames(log *slog.Logger, snapshot *catalog.Snapshot) {
	known := map[string]bool{}
	for _, skills := range [][]*catalog.Skill{snapshot.Skills(), snapshot.Hidden()} {
		for _, skill := range skills {
			known[skill.Name] = true
		}
	}
	for _, name := range s.Disabled {
		if !known[name] && !strings.Contains(name, "*") {
			log.Warn("the configuration disables a skill that is not there", "skill", name, "from", s.Origin("disabled").String())
		}
	}
	for name := range s.Skills {
		if !known[name] {
			log.Warn("the configuration has a section for a skill that is not there", "skill", name, "from", s.Origin("skills."+name).String())
		}
	}
}
