package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

const unpackLong = `Unpack a .skill or .zip archive of skills into directories below the working
directory. What is there already stays. Archives with links, with names that lead
out or are one to some file systems, or that are larger than what is served, are
not unpacked, not even in part.`

func newUnpackCommand() *cobra.Command {
	into := "."
	command := &cobra.Command{
		Use:     "unpack FILE",
		Short:   "Unpack a packed skill",
		Long:    unpackLong,
		Example: "  skills-mcp unpack my-skill.skill\n  skills-mcp unpack --into ~/.claude/skills my-skill.skill",
		Args:    exactlyOne("an archive"),
		RunE: func(command *cobra.Command, args []string) error {
			made, err := catalog.Unpack(args[0], into)
			for _, dir := range made {
				fmt.Fprintln(command.OutOrStdout(), terminal.Printable(dir))
			}
			return err
		},
	}
	command.Flags().StringVar(&into, "into", into, "`DIR` in which directories are made")
	hideInherited(command)
	return command
}
