package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
)

// counted refuses, as wrong usage, numbers of arguments that allowed refuses.
func counted(allowed cobra.PositionalArgs) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if err := allowed(command, args); err != nil {
			return exit.Misused(fmt.Errorf("%s: %w", command.CommandPath(), err))
		}
		return nil
	}
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

// rootFlag adds the flag that names the roots of commands whose arguments are others.
func rootFlag(command *cobra.Command, roots *[]string) {
	command.Flags().StringArrayVar(roots, "root", nil, "a `ROOT`, as in 'skills-mcp --help' (repeatable); the default folders if absent")
}
