package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/granted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/internal/audit"
)

const grantsLong = `List what you have granted to skills, with 'skills-mcp grant' or in your own
file, and what you have allowed them for always when you were asked.

What you were asked about holds for one version of a skill, in the directory
where it lies, and for what is stated; it ends when the skill changes. It is kept
below $XDG_STATE_HOME (~/.local/state), and has an ID by which it is revoked.
Servers that run heed what is revoked at once.`

func newGrantsCommand(flags *settings.Settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "grants",
		Short:   "List what you have granted to skills, and allowed them for always",
		Long:    grantsLong,
		Example: "  skills-mcp grants\n  skills-mcp grants revoke --skill report",
		Args:    exit.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			store, err := settings.OpenAnswers(nil)
			if err != nil {
				return err
			}
			grants, err := store.List()
			if err != nil {
				return fmt.Errorf("the grants cannot be read, so none holds: %w; 'skills-mcp grants revoke --all' begins anew", err)
			}
			configErr := flags.Read(nil) // what was allowed is listed all the same
			var entries []granted.Entry
			if configErr == nil {
				entries = granted.List(flags)
				for _, warning := range flags.Warnings {
					fmt.Fprintf(command.ErrOrStderr(), "skills-mcp: %s\n", terminal.Printable(warning))
				}
			}
			if asJSON {
				err = printGrantsJSON(command.OutOrStdout(), entries, grants)
			} else {
				err = printGrants(command.OutOrStdout(), entries, grants)
			}
			return cmp.Or(err, configErr)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON list")
	command.AddCommand(newRevokeAnswersCommand(flags))
	hideInherited(command)
	return command
}

func newRevokeAnswersCommand(flags *settings.Settings) *cobra.Command {
	var skill string
	var all bool
	command := &cobra.Command{
		Use:     "revoke [ID...]",
		Short:   "Revoke what you have allowed for always, so that you are asked again",
		Example: "  skills-mcp grants revoke grant-0123456789abcdef\n  skills-mcp grants revoke --skill report\n  skills-mcp grants revoke --all",
		Args: func(_ *cobra.Command, ids []string) error {
			given := 0
			for _, is := range []bool{len(ids) > 0, skill != "", all} {
				if is {
					given++
				}
			}
			if given != 1 {
				return exit.Misused(fmt.Errorf("revoke needs either IDs, or --skill, or --all"))
			}
			return nil
		},
		RunE: func(command *cobra.Command, ids []string) error {
			store, err := settings.OpenAnswers(nil)
			if err != nil {
				return err
			}
			input, err := json.Marshal(map[string]any{"ids": ids, "skill": skill, "all": all})
			if err != nil {
				return err
			}
			record := audit.Record{Event: audit.Answer, Method: "grants revoke", Skill: skill, Answer: "revoked", Input: input}
			if all {
				err = revokeAll(command.OutOrStdout(), store)
			} else {
				err = revoke(command.OutOrStdout(), store, ids, skill)
			}
			return flags.RecordedAfter(command.ErrOrStderr(), record, err)
		},
	}
	command.Flags().StringVar(&skill, "skill", "", "revoke all that the skill of this `NAME` is allowed for always")
	command.Flags().BoolVar(&all, "all", false, "revoke all that is allowed for always, also where it cannot be read")
	return command
}

func printGrantsJSON(out io.Writer, entries []granted.Entry, grants []answers.Answer) error {
	list := []any{} // which is not null
	for _, entry := range entries {
		list = append(list, entry)
	}
	for _, grant := range grants {
		list = append(list, grant)
	}
	return terminal.PrintJSON(out, list)
}

func printGrants(out io.Writer, entries []granted.Entry, grants []answers.Answer) error {
	var text strings.Builder
	for _, entry := range entries {
		entry.Write(&text)
	}
	for _, grant := range grants {
		fmt.Fprintf(&text, "%s  %s\n    %s\n    skill %s in %s, %s\n    given %s, until the skill changes\n", grant.ID, terminal.Printable(grant.Kind),
			terminal.Printable(grant.Shown), terminal.Printable(grant.Skill), terminal.Printable(grant.Root), terminal.Shorten(grant.Digest, 20), grant.Given.Format(time.DateOnly))
	}
	fmt.Fprintln(&text, terminal.Counted(len(entries)+len(grants), "grant"))
	_, err := io.WriteString(out, text.String())
	return err
}

// revoke revokes the grants of these ids, each of which there has to be, or of
// a skill.
func revoke(out io.Writer, store *answers.Store, ids []string, skill string) error {
	revoked, err := store.Revoke(func(grant answers.Answer) bool {
		return slices.Contains(ids, grant.ID) || skill != "" && grant.Skill == skill
	})
	if err != nil {
		return fmt.Errorf("the grants cannot be changed: %w", err)
	}
	for _, grant := range revoked {
		fmt.Fprintf(out, "revoked %s: %s\n", grant.ID, terminal.Printable(grant.Shown))
	}
	for _, id := range ids {
		if !slices.ContainsFunc(revoked, func(grant answers.Answer) bool { return grant.ID == id }) {
			return fmt.Errorf("there is no grant %q; 'skills-mcp grants' lists them", id)
		}
	}
	if len(revoked) == 0 {
		return fmt.Errorf("the skill %q is allowed nothing for always; what it is granted, 'skills-mcp revoke %s' takes back", skill, skill)
	}
	return nil
}

func revokeAll(out io.Writer, store *answers.Store) error {
	if err := store.Clear(); err != nil {
		return fmt.Errorf("the grants cannot be removed: %w", err)
	}
	fmt.Fprintln(out, "revoked all that was allowed for always; what is granted stays, and 'skills-mcp revoke NAME' takes it back")
	return nil
}
