package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/examples"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

const testLong = `Run the examples that skills keep in tests/*.yaml, and compare what comes of each
with what it expects: exit code, output, and files that were made or changed.
docs/testing-skills.md has the form of these files, --schema their JSON Schema.

An example is a call of exec as a model makes it, in the same sandbox and under
the same policy and grants, in a workspace of its own; programs see nothing of
your project. The exit code is 1 where an example fails, a file of examples is
faulty, or a SKILL that is named has none.`

func newTestCommand(flags *settings.Settings) *cobra.Command {
	var roots []string
	var asJSON, schema bool
	command := &cobra.Command{
		Use:     "test [SKILL...]",
		Short:   "Run the examples of skills",
		Long:    testLong,
		Example: "  skills-mcp test --root ./my-skills\n  skills-mcp test --sandbox=local --json csv-profile",
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, names []string) error {
			if schema {
				_, err := command.OutOrStdout().Write(examples.Schema())
				return err
			}
			return testSkills(command, flags, roots, names, asJSON)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	command.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of a file of examples instead")
	rootFlag(command, &roots)
	return command
}

// testSkills runs the examples of the skills of these names, or of all.
func testSkills(command *cobra.Command, flags *settings.Settings, roots, names []string, asJSON bool) error {
	flags.Quiet, flags.Unshared = true, true
	runtime, err := open(command.Context(), flags, command.ErrOrStderr(), roots)
	if err != nil {
		return err
	}
	defer runtime.close()
	skills, err := named(runtime.catalog.Snapshot(), names)
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	shown := out
	if asJSON {
		shown = io.Discard
	}
	report, err := runtime.examples().RunAll(command.Context(), skills, shown)
	if err != nil {
		return err
	}
	if asJSON {
		err = terminal.PrintJSON(out, report)
	} else {
		err = report.WriteSum(out)
	}
	switch {
	case err != nil:
		return err
	case len(names) > 0 && len(report.Examples) == 0 && report.OK():
		return fmt.Errorf("no skill that was named has examples; docs/testing-skills.md says how to write them to tests/*.yaml")
	case !report.OK():
		return exit.ErrReported
	}
	return nil
}

// named returns the skills of these names, or all.
func named(snapshot *catalog.Snapshot, names []string) ([]*catalog.Skill, error) {
	if len(names) == 0 {
		return snapshot.Skills(), nil
	}
	var skills []*catalog.Skill
	for _, name := range names {
		skill, found := snapshot.Lookup(name)
		if !found {
			return nil, fmt.Errorf("there is no skill %q; 'skills-mcp list' shows those there are", name)
		}
		skills = append(skills, skill)
	}
	return skills, nil
}
