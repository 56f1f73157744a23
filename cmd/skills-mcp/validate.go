package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/validating"
)

const validateLong = `Hold skills to the specification of Agent Skills. A DIR is a skill's directory, a
directory of them, a .skill or .zip archive or a SKILL.md; the working directory
if absent. What its reference validator rejects is an error; what else can go
wrong, in tools.json too, is told beside it. The exit code is 1 where there are
errors. Your configuration is not looked at.

--fix corrects what needs no judgement: line endings, a byte-order mark, missing
quotes, allowed_tools, and the names of SKILL.md and of its directory. It shows
what it would do and asks, or goes by --yes. What is in archives and behind links
stays as it is.`

func newValidateCommand() *cobra.Command {
	format := "text"
	var asJSON, fix, yes bool
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
			if len(places) == 0 {
				places = []string{"."}
			}
			if fix {
				if err := repair(command, places, yes); err != nil {
					return err
				}
			}
			return validate(command, places, format)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringVar(&format, "format", format, "`FORMAT` of what is found: text, json, github (annotations of a workflow) or\nsarif (SARIF 2.1.0)")
	command.Flags().BoolVar(&asJSON, "json", false, "short for --format=json")
	command.Flags().BoolVar(&fix, "fix", false, "correct what needs no judgement, first")
	command.Flags().BoolVar(&yes, "yes", false, "with --fix, do not ask")
	hideInherited(command)
	return command
}

// repair corrects what can be without judgement, where its user agrees.
func repair(command *cobra.Command, places []string, yes bool) error {
	report, err := validating.Check(command.Context(), places)
	if err != nil {
		return err
	}
	repairs, err := report.Repairs()
	if err != nil || len(repairs) == 0 {
		return err
	}
	out := command.ErrOrStderr()
	for _, each := range repairs {
		if _, err := io.WriteString(out, terminal.Coloured(out, each.Diff())); err != nil {
			return err
		}
	}
	if !yes {
		if !terminal.CanAsk(command) {
			return exit.Misused(errors.New("standard input is no terminal to ask at, and nothing was changed; give --yes"))
		}
		if yes, err = terminal.Ask(command, "Do this?"); err != nil || !yes {
			return err
		}
	}
	for _, each := range repairs {
		if err := each.Apply(); err != nil {
			return err
		}
	}
	return nil
}

func validate(command *cobra.Command, places []string, format string) error {
	done := terminal.Progress(command.ErrOrStderr(), "looking at the skills")
	report, err := validating.Check(command.Context(), places)
	done()
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
