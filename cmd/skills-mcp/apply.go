package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server"
)

const applyLong = `Write what programs of skills changed to your files.

It shows the changes and asks, unless --yes is given. Each file is written as a
whole or not at all. What you changed yourself meanwhile is a conflict and stays
as it is, and what must not be changed is refused; then the exit code is 1.
'skills-mcp undo' takes it back.`

func newApplyCommand(flags *settings) *cobra.Command {
	var paths []string
	var yes, discard bool
	command := &cobra.Command{
		Use:     "apply [--paths PATH...] [--discard] [--yes] ID",
		Short:   "Write held changes to your files",
		Long:    applyLong,
		Example: "  skills-mcp apply cs-0123456789abcdef-01234567\n  skills-mcp apply --paths docs cs-0123456789abcdef-01234567",
		Args:    exactlyOne("the id of a change set; 'skills-mcp changes' lists them"),
		RunE: func(command *cobra.Command, args []string) error {
			store, err := flags.openChanges(command.ErrOrStderr())
			if err != nil {
				return err
			}
			set, err := flags.openSet(store, args[0])
			if err != nil {
				return err
			}
			defer set.Close()
			if discard {
				return set.discard(command, flags, args[0], paths, yes)
			}
			return set.apply(command, flags, args[0], paths, yes)
		},
	}
	command.Flags().SortFlags = false
	command.Flags().StringArrayVar(&paths, "paths", nil, "`PATH` of a held file or of a directory, relative to the project (repeatable);\nall that is held if absent")
	command.Flags().BoolVar(&discard, "discard", false, "throw the changes away instead")
	command.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return command
}

// exactlyOne is for commands with one argument.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usageError{fmt.Errorf("%s needs %s", command.Name(), what)}
		}
		return nil
	}
}

// apply shows what is held, asks and writes it. What is written is what was
// shown: it has the same id.
func (s *judgedSet) apply(command *cobra.Command, flags *settings, id string, paths []string, yes bool) error {
	ctx := command.Context()
	if !yes {
		held, err := s.Held(ctx, s.judge)
		if err == nil {
			id = held.ID
			err = s.print(command, held, paths)
		}
		if err != nil {
			return err
		}
		if len(held.Files) == 0 {
			return errors.New("there is nothing that can be applied")
		}
		if agreed, err := ask(command, "Write this to "+printable(s.Target().Path)+"?"); err != nil || !agreed {
			return err
		}
	}
	return flags.recorded(command.ErrOrStderr(), s.record("apply"), func(record *audit.Record) error {
		outcome, err := s.Apply(ctx, id, paths, s.judge)
		if err != nil {
			return err
		}
		record.Changes = []audit.Changes{server.RecordOutcome(id, s.Target().Path, outcome)}
		return printOutcome(command.OutOrStdout(), outcome)
	})
}

// record is what the audit log has of a command about the set.
func (s *judgedSet) record(name string) audit.Record {
	return audit.Record{Event: audit.Apply, Method: name, Skill: s.Target().Skill, Workspace: s.Target().Workspace}
}

func (s *judgedSet) discard(command *cobra.Command, flags *settings, id string, paths []string, yes bool) error {
	if !yes {
		if agreed, err := ask(command, "Throw the changes away?"); err != nil || !agreed {
			return err
		}
	}
	return flags.recorded(command.ErrOrStderr(), s.record("apply --discard"), func(record *audit.Record) error {
		left, err := s.Discard(command.Context(), id, paths, s.judge)
		if err != nil {
			return err
		}
		held := len(left.Files) + left.OmittedFiles
		record.Changes = []audit.Changes{{ID: id, Of: s.Target().Path, Held: held, Discarded: true}}
		_, err = fmt.Fprintf(command.OutOrStdout(), "Discarded. Held is still: %s.\n", countChanges(held))
		return err
	})
}

// printOutcome says what was done. It is an error where not all was.
func printOutcome(out io.Writer, outcome changes.Outcome) error {
	for _, change := range outcome.Applied {
		fmt.Fprintf(out, "%-8s  %s\n", change.Kind, printable(change.Path))
	}
	for _, conflict := range outcome.Conflicts {
		fmt.Fprintf(out, "conflict  %s: %s\n", printable(conflict.Path), printable(conflict.Reason))
	}
	for _, refusal := range outcome.Refused {
		fmt.Fprintf(out, "refused   %s: %s\n", printable(refusal.Path), printable(refusal.Reason))
	}
	if outcome.Undo != "" {
		fmt.Fprintf(out, "Take it back with: skills-mcp undo %s\n", outcome.Undo)
	}
	if len(outcome.Conflicts)+len(outcome.Refused) > 0 {
		return errReported
	}
	return nil
}

// canAsk reports whether there is a terminal to ask at.
func canAsk(command *cobra.Command) bool {
	in, ok := command.InOrStdin().(interface{ Fd() uintptr })
	return ok && isTerminalFd(in.Fd())
}

// ask asks a person at a terminal. Where there is none, it fails.
func ask(command *cobra.Command, question string) (bool, error) {
	if !canAsk(command) {
		return false, usageError{errors.New("standard input is no terminal to ask at; look at the changes with 'skills-mcp changes ID', then give --yes")}
	}
	fmt.Fprintf(command.ErrOrStderr(), "%s [y/N] ", question)
	answer, err := bufio.NewReader(command.InOrStdin()).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true, nil
	}
	fmt.Fprintln(command.ErrOrStderr(), "Nothing was changed.")
	return false, nil
}
