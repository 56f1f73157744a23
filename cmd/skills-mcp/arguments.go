package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
)

// noArguments refuses arguments as wrong usage.
func noArguments(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Misused(fmt.Errorf("%s takes no argument %q", command.CommandPath(), args[0]))
	}
	return nil
}

// exactlyOne is for commands with one argument.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != 1 {
			return exit.Misused(fmt.Errorf("%s needs %s", command.Name(), what))
		}
		return nil
	}
}

// unconfigured is for commands that no configuration is for: their help leaves the
// flags out that the others share.
func unconfigured(command *cobra.Command) *cobra.Command {
	command.SetHelpFunc(func(command *cobra.Command, args []string) {
		command.InheritedFlags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = true })
		command.Root().HelpFunc()(command, args)
	})
	return command
}
