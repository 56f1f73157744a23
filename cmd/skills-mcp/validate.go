package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/validating"
)

const validateLong = `Hold skills to the specification of Agent Skills. A DIR is a skill's directory, a
directory of them, a .skill or .zip archive or a SKILL.md; the working directory
if absent. What its reference validator rejects is an error; what else can go
wrong, in tools.json too, is told beside it. The exit code is 1 where there are
errors. Your configuration is not looked at.`

func newValidateCommand() *cobra.Command {
	format := "text"
	var asJSON bool
	command := &cobra.Command{
		Use:     "validate [DIR...]",
		Short:   "Hold skills to the specification of Agent Skills",
		Long:    validateLong,
		Example: "  skills-mcp validate ./my-skill\n  skills-mcp validate --format=github skills",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, places []string) error {
			if asJSON {
				format = "json"
			}
			if !slices.Contains(validating.Formats(), format) {
				return exit.Misused(fmt.Errorf("--format %q is none of %s", format, strings.Join(validating.Formats(), ", ")))
			}
			return validate(command, places, format)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringVar(&format, "format", format, "`FORMAT` of what is found: text, json, github (annotations of a workflow) or\nsarif (SARIF 2.1.0)")
	command.Flags().BoolVar(&asJSON, "json", false, "short for --format=json")
	return unconfigured(command)
}

func validate(command *cobra.Command, places []string, format string) error {
	if len(places) == 0 {
		places = []string{"."}
	}
	report, err := validating.Check(command.Context(), places)
	if err != nil {
		return err
	}
	if err := report.Write(command.OutOrStdout(), format); err != nil {
		return err
	}
	if report.Count(catalog.Error) > 0 {
		return exit.ErrReported
	}
	return nil
}
