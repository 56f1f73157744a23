package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/granted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/audit"
)

const grantLong = `Grant a skill hosts, secrets, packages or directories, in addition to what it has.

It is granted to the skill of this name where it lies now, since a skill of the
same name may come with a project. Secrets are granted to the version that it is
now: when it has changed, 'skills-mcp grant NAME' alone confirms what it has.
What is granted is kept in grants.yaml in your configuration directory; servers
that run go by it at once. docs/grants.md says more.`

const grantExample = `  skills-mcp grant weather --host api.example.com --host '*.example.org'
  skills-mcp grant weather --secret WEATHER_KEY --for api.example.com
  skills-mcp grant weather --secret 'WEATHER_KEY=command:pass show weather' --for api.example.com
  skills-mcp grant report --packages --show ./fonts`

func newGrantCommand(flags *settings.Settings) *cobra.Command {
	var roots []string
	var texts granted.Texts
	command := &cobra.Command{
		Use:     "grant NAME [--host HOST...] [--secret VAR[=SOURCE]... --for HOST...] [--packages] [--show PATH...]",
		Short:   "Grant a skill hosts, secrets, packages or directories",
		Long:    grantLong,
		Example: grantExample,
		Args:    oneSkill,
		RunE: func(command *cobra.Command, args []string) error {
			if err := flags.Read(roots); err != nil {
				return err
			}
			skill, err := granted.Find(command.Context(), flags, args[0])
			if err != nil {
				return err
			}
			after, err := granted.Grant(flags, skill, texts)
			record := audit.Record{Event: audit.Answer, Method: "grant", Skill: skill.Name, Digest: skill.Digest, Answer: "always", Granted: granted.Lines(after)}
			if err := flags.RecordedAfter(command.ErrOrStderr(), record, err); err != nil {
				return err
			}
			fmt.Fprintf(command.OutOrStdout(), "%s in %s may have, from now on:\n", terminal.Printable(skill.Name), terminal.Printable(skill.Place))
			writeGranted(command, granted.Lines(after))
			for _, doubt := range granted.Doubts(skill.Name, after) {
				fmt.Fprintf(command.ErrOrStderr(), "skills-mcp: %s\n", terminal.Printable(doubt))
			}
			return nil
		},
	}
	options := command.Flags()
	options.SortFlags = false
	grantFlags(options, &texts)
	options.StringArrayVar(&texts.For, "for", nil, "`HOST` to which the secrets are sent, and which the skill may reach (repeatable)")
	options.BoolVar(&texts.Plain, "plain", false, "have programs see the secrets themselves, instead of placeholders that are\nreplaced on the way to the hosts")
	options.BoolVar(&texts.Body, "body", false, "replace the placeholders in bodies of requests too, not in headers alone")
	options.StringVar(&texts.Pin, "pin", "", "`WHAT` another version of the skill loses: digest (all), or name (nothing);\nwithout it, the secrets")
	rootFlag(command, &roots)
	hideInherited(command)
	return command
}

// grantFlags are those that granting and revoking have.
func grantFlags(flags *pflag.FlagSet, texts *granted.Texts) {
	flags.StringArrayVar(&texts.Hosts, "host", nil, "`HOST`: api.example.com, *.example.com for all below it, http://NAME without\nTLS, NAME:PORT (repeatable)")
	flags.StringArrayVar(&texts.Secrets, "secret", nil, "`VAR[=SOURCE]`: the variable of a secret, and where its value is: env:NAME,\nfile:PATH, command:PROGRAM ARGUMENTS or keyring:SERVICE/ACCOUNT; without it,\nthe server's variable of the same name (repeatable)")
	flags.BoolVar(&texts.Packages, "packages", false, "the packages that 'skills-mcp prepare' makes ready for it")
	flags.StringArrayVar(&texts.Show, "show", nil, "`PATH` of a directory or file that its programs may read (repeatable)")
	flags.StringArrayVar(&texts.AllowPrivate, "allow-private", nil, "`NETWORK` of private addresses that the hosts may have, such as 10.1.0.0/16\n(repeatable)")
}

func oneSkill(command *cobra.Command, args []string) error {
	if len(args) != 1 {
		return exit.Misused(fmt.Errorf("%s needs the name of one skill", command.CommandPath()))
	}
	return nil
}

func writeGranted(command *cobra.Command, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(command.OutOrStdout(), "    %s\n", terminal.Printable(line))
	}
}

// hideInherited leaves the flags of all commands out of a command's help: they are
// about serving skills.
func hideInherited(command *cobra.Command) {
	command.SetUsageTemplate(strings.ReplaceAll(command.UsageTemplate(), ".HasAvailableInheritedFlags", "false"))
}
