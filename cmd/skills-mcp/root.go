package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/backends"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/completing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/imaging"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/redact"
)

const rootLong = `skills-mcp turns folders of Agent Skills (SKILL.md plus scripts, references and
assets) into a skill runtime for any MCP host.

Without a subcommand it serves MCP on standard input and output, as hosts start
it. A ROOT is a directory of skills, one skill's directory, or a .skill or .zip
archive; write PREFIX=PATH to put a prefix before the skills' URIs, pack:PATH for
a directory of capability packs, and plugins:PATH for that of Claude Code's
plugins. Without ROOT these are searched, nearest first:

  ./.skills  ./.agents/skills  ./.claude/skills
  ~/.agents/skills  ~/.claude/skills  ~/.skills-mcp/skills`

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
	addCommands(command, "Serve", newServeCommand(flags), newRegisterCommand(flags), newUnregisterCommand(),
		newConfigCommand(flags), newDoctorCommand(flags), newCompletionCommand())
	command.SetHelpCommandGroupID("Serve")
	addCommands(command, "Look at skills and their use", newListCommand(flags), newInspectCommand(flags), newPromptCommand(flags),
		newCallCommand(flags), newUsageCommand(flags), newAuditCommand(flags))
	addCommands(command, "Write skills", newInitCommand(), newDevCommand(flags), newValidateCommand(), newTestCommand(flags),
		newPackCommand(), newUnpackCommand(), newSchemaCommand())
	addCommands(command, "Say what skills may do, and where", newGrantCommand(flags), newGrantsCommand(flags), newRevokeCommand(flags),
		newPrepareCommand(flags), newPruneCommand(flags), imaging.NewCommand(), newHostedCommand(flags))
	addCommands(command, "Decide on changes of your files", newChangesCommand(flags), newApplyCommand(flags), newUndoCommand(flags))
	command.AddCommand(newFlagsTopic())
	completing.Add(command, flags)
	return command
}

// addCommands adds commands that the help shows below a title.
func addCommands(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, command := range commands {
		command.GroupID = title
	}
	root.AddCommand(commands...)
}

// usageTemplate has each command show its own flags alone, and the root none, so
// that their help fits a screen.
func usageTemplate(command *cobra.Command) string {
	return strings.NewReplacer(
		"{{if .HasAvailableLocalFlags}}", "{{if and .HasParent .HasAvailableLocalFlags}}",
		"Global Flags:\n{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}", "'skills-mcp help flags' has the flags of all commands.",
	).Replace(command.UsageTemplate())
}

// oneClientGC is how much may be allocated until garbage is collected, in percent of
// what is in use: a host has a server for each session, and one client allocates
// little, so memory matters more than time. GOGC says otherwise.
const oneClientGC = 50

// serveStdio serves the one client at the other end of stdin and stdout.
func serveStdio(command *cobra.Command, flags *settings.Settings, roots []string) error {
	ctx := command.Context()
	flags.OneClient = true
	runtime, err := open(ctx, flags, command.ErrOrStderr(), roots)
	if err != nil {
		return err
	}
	defer runtime.close()
	runtime.logStart("stdio")
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(oneClientGC)
	}
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
