package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/developing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/validating"
)

const devLong = `Follow a skill while you write it: at each save, hold it to the specification,
show what a host would see of it with about how many tokens that takes, and run
its examples. A DIR is a skill's directory, a directory of them, or a .skill or
.zip archive; the working directory if absent.

What is shown first is all, then what is another: problems with file, line and
cure, tokens before and after, examples that came to another outcome. On a
terminal each save draws the whole again. Examples run as 'skills-mcp test' runs
them; a save while they run begins them again. Ctrl-C ends.`

func newDevCommand(flags *settings.Settings) *cobra.Command {
	var asJSON, noExamples bool
	command := &cobra.Command{
		Use:     "dev [DIR]",
		Short:   "Follow a skill while you write it",
		Long:    devLong,
		Example: "  skills-mcp dev ./my-skill\n  skills-mcp dev --no-examples --json skills",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exit.Misused(fmt.Errorf("dev follows one DIR, and %d are given: name one in which all skills are", len(args)))
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			return follow(command, flags, append(args, ".")[0], asJSON, noExamples)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().BoolVar(&noExamples, "no-examples", false, "do not run examples")
	command.Flags().BoolVar(&asJSON, "json", false, "print a JSON object a line")
	return command
}

// follow follows the skills in a place until it is interrupted.
func follow(command *cobra.Command, flags *settings.Settings, place string, asJSON, noExamples bool) error {
	from, err := os.Getwd()
	if err != nil {
		return err
	}
	if !filepath.IsAbs(place) {
		place = filepath.Join(from, place)
	}
	if _, err := os.Stat(place); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s", place)
	}
	// The terminal may be closed, or who reads the output end: what runs is ended then.
	ctx, stop := signal.NotifyContext(command.Context(), syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	root := validating.Root(place)
	flags.Quiet, flags.Unshared = true, true
	runtime, err := open(ctx, flags, command.ErrOrStderr(), []string{root.Argument()})
	if err != nil {
		return err
	}
	defer runtime.close()
	options := developing.Options{
		Place: root.Path, From: from, Catalog: runtime.catalog, Activation: runtime.server.Activation, Out: command.OutOrStdout(), JSON: asJSON,
	}
	if !noExamples {
		runner := runtime.examples()
		options.Examples = &runner
	}
	err = developing.Follow(ctx, options)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
