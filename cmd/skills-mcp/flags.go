package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const flagsLong = `Without a subcommand, and before or after any, these flags say how skills are
served. What they say can stand in a file too, with more: see 'skills-mcp config --help'.

Relative paths are taken from $CLAUDE_PROJECT_DIR where a host sets it, else
from the working directory.`

// newFlagsTopic returns what 'skills-mcp help flags' shows: the flags of the root,
// which its own help has no room for.
func newFlagsTopic() *cobra.Command {
	topic := &cobra.Command{Use: "flags", Short: "The flags of all commands"}
	topic.SetHelpFunc(func(topic *cobra.Command, _ []string) {
		root := topic.Root()
		root.InitDefaultHelpFlag()
		root.InitDefaultVersionFlag()
		fmt.Fprintf(topic.OutOrStdout(), "%s\n\nFlags:\n%s", flagsLong, root.LocalFlags().FlagUsages())
	})
	return topic
}
