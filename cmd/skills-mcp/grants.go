package main

import (
	"encoding/json"
	"fmt"
	"github.com/skills-mcp/skills-mcp/internal/statedir"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/internal/answers"
	"github.com/skills-mcp/skills-mcp/internal/audit"
)

const grantsLong = `List what you have allowed skills for always.

Each grant holds for one version of a skill, in the directory where it lies, and
for what is stated; it ends when the skill changes. Grants are kept below
$XDG_STATE_HOME (~/.local/state), and servers that run heed what is revoked at
once.`

func newGrantsCommand(flags *settings) *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "grants",
		Short:   "List and revoke what you have allowed skills for always",
		Long:    grantsLong,
		Example: "  skills-mcp grants\n  skills-mcp grants revoke --skill report",
		Args:    noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			store, err := openAnswers(nil)
			if err != nil {
				return err
			}
			grants, err := store.List()
			if err != nil {
				return fmt.Errorf("the grants cannot be read, so none holds: %w; 'skills-mcp grants revoke --all' begins anew", err)
			}
			if asJSON && grants == nil {
				grants = []answers.Answer{} // which is not null
			}
			if asJSON {
				return printJSON(command.OutOrStdout(), grants)
			}
			return printGrants(command.OutOrStdout(), grants)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON list")
	command.AddCommand(newRevokeCommand(flags))
	// The flags of all commands are about serving skills.
	command.SetUsageTemplate(strings.ReplaceAll(command.UsageTemplate(), ".HasAvailableInheritedFlags", "false"))
	return command
}

func newRevokeCommand(flags *settings) *cobra.Command {
	var skill string
	var all bool
	command := &cobra.Command{
		Use:     "revoke [ID...]",
		Short:   "Revoke grants, so that you are asked again",
		Example: "  skills-mcp grants revoke grant-0123456789abcdef\n  skills-mcp grants revoke --skill report\n  skills-mcp grants revoke --all",
		Args: func(_ *cobra.Command, ids []string) error {
			given := 0
			for _, is := range []bool{len(ids) > 0, skill != "", all} {
				if is {
					given++
				}
			}
			if given != 1 {
				return usageError{fmt.Errorf("revoke needs either IDs, or --skill, or --all")}
			}
			return nil
		},
		RunE: func(command *cobra.Command, ids []string) error {
			store, err := openAnswers(nil)
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
			return flags.recordedAfter(command.ErrOrStderr(), record, err)
		},
	}
	command.Flags().StringVar(&skill, "skill", "", "revoke all grants of the skill of this `NAME`")
	command.Flags().BoolVar(&all, "all", false, "revoke all grants, also where they cannot be read")
	return command
}

// noArguments refuses arguments as wrong usage.
func noArguments(command *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("%s takes no argument %q", command.CommandPath(), args[0])}
	}
	return nil
}

// openAnswers returns what remembers the user's answers.
func openAnswers(log *slog.Logger) (*answers.Store, error) {
	dir, err := statedir.Path("grants")
	if err != nil {
		return nil, fmt.Errorf("there is no directory for grants: %w", err)
	}
	return answers.New(answers.Options{Dir: dir, Logger: log}), nil
}

// rememberedAnswers is openAnswers for a server, which does without.
func rememberedAnswers(log *slog.Logger) *answers.Store {
	store, err := openAnswers(log)
	if err != nil {
		log.Warn("nothing can be allowed for always", "error", err)
	}
	return store
}

func printGrants(out io.Writer, grants []answers.Answer) error {
	var text strings.Builder
	for _, grant := range grants {
		ends := "until the skill changes"
		if !grant.Expires.IsZero() {
			ends = "until " + grant.Expires.Format(time.DateOnly) + " or the skill changes"
		}
		fmt.Fprintf(&text, "%s  %s\n    %s\n    skill %s in %s, %s\n    given %s, %s\n", grant.ID, printable(grant.Kind),
			printable(grant.Shown), printable(grant.Skill), printable(grant.Root), shorten(grant.Digest, 20), grant.Given.Format(time.DateOnly), ends)
	}
	noun := "grants"
	if len(grants) == 1 {
		noun = "grant"
	}
	fmt.Fprintf(&text, "%d %s\n", len(grants), noun)
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
		fmt.Fprintf(out, "revoked %s: %s\n", grant.ID, printable(grant.Shown))
	}
	for _, id := range ids {
		if !slices.ContainsFunc(revoked, func(grant answers.Answer) bool { return grant.ID == id }) {
			return fmt.Errorf("there is no grant %q; 'skills-mcp grants' lists them", id)
		}
	}
	if len(revoked) == 0 {
		return fmt.Errorf("the skill %q has no grants; 'skills-mcp grants' lists them", skill)
	}
	return nil
}

func revokeAll(out io.Writer, store *answers.Store) error {
	if err := store.Clear(); err != nil {
		return fmt.Errorf("the grants cannot be removed: %w", err)
	}
	fmt.Fprintln(out, "revoked all grants")
	return nil
}
