package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/schemas"
)

const schemaLong = `Print the JSON Schema of a file, for editors: of the frontmatter of a skill (skill),
of tools.json (tools), of examples in tests/*.yaml (tests) or of the configuration
(config).`

func newSchemaCommand() *cobra.Command {
	command := &cobra.Command{
		Use:       "schema " + strings.Join(schemas.Names(), "|"),
		Short:     "Print the JSON Schema of a file, for editors",
		Long:      schemaLong,
		Example:   "  skills-mcp schema tools > tools.schema.json",
		ValidArgs: schemas.Names(),
		Args:      exactlyOne("one of " + strings.Join(schemas.Names(), ", ")),
		RunE: func(command *cobra.Command, names []string) error {
			schema, found := schemas.Of(names[0])
			if !found {
				return exit.Misused(fmt.Errorf("there is no schema %q; name one of %s", names[0], strings.Join(schemas.Names(), ", ")))
			}
			_, err := command.OutOrStdout().Write(schema)
			return err
		},
	}
	hideInherited(command)
	return command
}
