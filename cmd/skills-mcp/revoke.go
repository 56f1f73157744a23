package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/granted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/internal/audit"
)

const revokeLong = `Take back what a skill is granted: what flags name, or everything. What you have
allowed it for always goes too: about the hosts that are named, or all. Servers
that run go by it at once, and programs that run lose their network.`

func newRevokeCommand(flags *settings.Settings) *cobra.Command {
	var texts granted.Texts
	command := &cobra.Command{
		Use:     "revoke NAME [--host HOST...] [--secret VAR...] [--packages] [--show PATH...]",
		Short:   "Take back what a skill is granted",
		Long:    revokeLong,
		Example: "  skills-mcp revoke weather --host api.example.com\n  skills-mcp revoke weather",
		Args:    oneSkill,
		RunE: func(command *cobra.Command, args []string) error {
			if err := flags.Read(nil); err != nil {
				return err
			}
			return revokeSkill(command, flags, args[0], texts)
		},
	}
	command.Flags().SortFlags = false
	grantFlags(command.Flags(), &texts)
	command.Flags().Lookup("secret").Usage = "`VAR` of a secret (repeatable)"
	hideInherited(command)
	return command
}

// revokeSkill takes back what is named of what a skill is granted, or all of it,
// with the answers by which it has the same.
func revokeSkill(command *cobra.Command, flags *settings.Settings, name string, texts granted.Texts) error {
	forgotten, storeErr := forget(name, &texts)
	left, err := granted.Revoke(flags, name, texts)
	for _, answer := range forgotten {
		fmt.Fprintf(command.OutOrStdout(), "revoked %s: %s\n", answer.ID, terminal.Printable(answer.Shown))
	}
	if granted.NothingGranted(err) && len(forgotten) > 0 {
		err = nil
	}
	err = errors.Join(err, storeErr)
	record := audit.Record{Event: audit.Answer, Method: "revoke", Skill: name, Answer: "revoked", Granted: granted.Lines(left)}
	if err := flags.RecordedAfter(command.ErrOrStderr(), record, err); err != nil {
		return err
	}
	lines := granted.Lines(left)
	if len(lines) == 0 {
		fmt.Fprintf(command.OutOrStdout(), "%s is granted nothing any more\n", terminal.Printable(name))
		return nil
	}
	fmt.Fprintf(command.OutOrStdout(), "%s is still granted:\n", terminal.Printable(name))
	writeGranted(command, lines)
	return nil
}

// forget forgets the answers about a skill that texts name.
func forget(name string, texts *granted.Texts) ([]answers.Answer, error) {
	if !texts.Empty() && len(texts.Hosts) == 0 {
		return nil, nil
	}
	store, err := settings.OpenAnswers(nil)
	if err != nil {
		return nil, err
	}
	return store.Revoke(func(answer answers.Answer) bool { return answer.Skill == name && texts.Names(answer) })
}
