package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/backends"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/completing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/redact"
)

const rootLong = `skills-mcp turns folders of Agent Skills (SKILL.md plus scripts, references and
assets) into a skill runtime for any MCP host.

Without a subcommand it serves MCP on standard input and output, as hosts start
it. A ROOT is a directory of skills, one skill's directory, or a .skill or .zip
archive; write PREFIX=PATH to put a prefix before the skills' URIs, and
pack:PATH for a directory of capability packs. Without ROOT these are searched,
nearest first:

  ./.skills  ./.agents/skills  ./.claude/skills
  ~/.agents/skills  ~/.claude/skills  ~/.skills-mcp/skills

What flags say can stand in a file too, with more: see 'skills-mcp config --help'.

Relative paths are taken from $CLAUDE_PROJECT_DIR where a host sets it, else
from the working directory.`

const rootExample = `  # Register with Claude Code, default folders
  claude mcp add skills -- skills-mcp

  # Serve one folder, and refuse to start where scripts cannot be isolated
  skills-mcp --sandbox=local ./my-skills

  # See what a model would see
  skills-mcp call activate name=my-skill arguments="the quarterly report"`

// newRootCommand returns the program, which adds the secrets that it reads to a set.
func newRootCommand(secrets *redact.Set) *cobra.Command {
	flags := &settings.Settings{Redact: secrets}
	command := &cobra.Command{
		Use:           "skills-mcp [flags] [ROOT...]",
		Short:         "Serve folders of Agent Skills to any MCP host",
		Long:          rootLong,
		Example:       rootExample,
		Version:       programVersion(),
		Args:          cobra.ArbitraryArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(command *cobra.Command, roots []string) error {
			return serveStdio(command, flags, roots)
		},
	}
	command.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Misused(err) })
	command.SetUsageTemplate(usageTemplate(command))
	flags.Register(command.PersistentFlags(), backends.Names(), backends.Help())
	command.AddCommand(newServeCommand(flags), newCallCommand(flags), newListCommand(flags), newInspectCommand(flags), newConfigCommand(flags), newAuditCommand(flags), newGrantCommand(flags), newPrepareCommand(flags), newPruneCommand(flags), newGrantsCommand(flags), newRevokeCommand(flags),
		newChangesCommand(flags), newApplyCommand(flags), newUndoCommand(flags), newHostedCommand(flags),
		newTestCommand(flags))
	command.AddCommand(newInitCommand(), newValidateCommand(), newPackCommand(), newUnpackCommand(), newPromptCommand(flags), newSchemaCommand())
	command.AddCommand(newRegisterCommand(flags), newUnregisterCommand(), newDoctorCommand(flags), newCompletionCommand(), newUsageCommand(flags))
	completing.Add(command, flags)
	return command
}

// usageTemplate has each command show its own flags alone, so that its help fits a
// screen.
func usageTemplate(command *cobra.Command) string {
	return strings.Replace(command.UsageTemplate(), "Global Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}",
		"'skills-mcp --help' has the flags of all commands.", 1)
}

// serveStdio serves the one client at the other end of stdin and stdout.
func serveStdio(command *cobra.Command, flags *settings.Settings, roots []string) error {
	ctx := command.Context()
	runtime, err := open(ctx, flags, command.ErrOrStderr(), roots)
	if err != nil {
		return err
	}
	defer runtime.close()
	runtime.logStart("stdio")
	// A client that went away is an error of writing. Unless the signal is
	// taken, the runtime ends the program before anything is cleaned up.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	return runtime.whileWatching(ctx, func(ctx context.Context) error {
		err := runtime.server.ServeStdio(ctx, command.InOrStdin(), terminal.Unredacted(command.OutOrStdout()))
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
}
