package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/granted"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/preparing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox/environments"
)

const prepareLong = `Install the packages of Python and npm that the files of skills ask for, and grant
them to the skills. Without SKILL, all skills that ask for any.

What is asked for, and by which line, is shown first, then all packages that this
comes to, with their versions, and you are asked. They are chosen and installed
in the sandbox, which reaches the package index that your uv, pip and npm use
and nothing else: nothing is built, no program of a package is run, and the files
of skills stay as they are. Programs of the skill then have the packages, without
network, until the skill asks for others.`

const prepareExample = `  skills-mcp prepare report
  skills-mcp prepare --list
  skills-mcp prepare --yes --exclude-newer 2026-01-01 report`

// prepareFlags are those of the command.
type prepareFlags struct {
	roots, hosts []string
	yes, list    bool
	excludeNewer string
}

func newPrepareCommand(flags *settings.Settings) *cobra.Command {
	var given prepareFlags
	command := &cobra.Command{
		Use:     "prepare [SKILL...]",
		Short:   "Install the packages that skills ask for",
		Long:    prepareLong,
		Example: prepareExample,
		Args:    cobra.ArbitraryArgs,
		RunE: func(command *cobra.Command, names []string) error {
			flags.Quiet = true
			runtime, err := open(command.Context(), flags, command.ErrOrStderr(), given.roots)
			if err != nil {
				return err
			}
			defer runtime.close()
			if runtime.environments() == nil {
				return errors.New("nothing can be run, so nothing is prepared: 'skills-mcp list' says why")
			}
			return prepare(command, flags, runtime, names, given)
		},
	}
	options := command.Flags()
	options.SortFlags = false
	options.BoolVar(&given.yes, "yes", false, "do not ask")
	options.BoolVar(&given.list, "list", false, "show what skills ask for and whether it is prepared, and do nothing")
	options.StringVar(&given.excludeNewer, "exclude-newer", "", "take no package that was published after this `DATE`, such as 2026-01-01")
	options.StringArrayVar(&given.hosts, "host", nil, "a further `HOST` on which your index keeps its files (repeatable)")
	rootFlag(command, &given.roots)
	return command
}

// prepare shows what is wanted, asks, and does it.
func prepare(command *cobra.Command, flags *settings.Settings, r *runtime, names []string, given prepareFlags) error {
	if _, err := time.Parse(time.DateOnly, given.excludeNewer); given.excludeNewer != "" && err != nil {
		return exit.Misused(fmt.Errorf("--exclude-newer %q is no date such as 2026-01-01", given.excludeNewer))
	}
	plans, err := preparing.Plans(command.Context(), flags, r.environments(), r.catalog, r.copies, names)
	if err != nil {
		return err
	}
	var wanted []preparing.Plan
	for _, plan := range plans {
		if err := plan.Write(command.OutOrStdout()); err != nil {
			return err
		}
		switch {
		case !plan.Needs.Packages():
		case plan.Prepared != nil && plan.Granted:
			fmt.Fprintf(command.OutOrStdout(), "  prepared: %s\n", preparing.Describe(*plan.Prepared))
		default:
			wanted = append(wanted, plan)
		}
	}
	if len(plans) == 0 {
		fmt.Fprintln(command.OutOrStdout(), "No skill asks for packages.")
	}
	if given.list || len(wanted) == 0 {
		return nil
	}
	if !given.yes && !terminal.CanAsk(command) {
		return exit.Misused(errors.New("standard input is no terminal to ask at; look at what is shown above, then give --yes"))
	}
	p := &preparing.Preparer{Store: r.environments(), Backend: r.backend, Log: r.log, Hosts: given.hosts, ExcludeNewer: given.excludeNewer,
		Progress: func(line string) { fmt.Fprintf(command.ErrOrStderr(), "  %s …\n", line) },
		Agree: func(skill string, offer preparing.Offer) error {
			if err := offer.Write(command.OutOrStdout(), skill); err != nil || given.yes {
				return err
			}
			agreed, err := terminal.Ask(command, fmt.Sprintf("Install this, and grant it to %s?", terminal.Printable(skill)))
			if err == nil && !agreed {
				err = errDeclined
			}
			return err
		}}
	for _, plan := range wanted {
		if oneErr := prepareOne(command, flags, p, plan); !errors.Is(oneErr, errDeclined) {
			err = errors.Join(err, oneErr)
		}
	}
	return err
}

// errDeclined means that the user does not want packages of a skill.
var errDeclined = errors.New("it is not wanted")

// prepareOne prepares the packages of one skill, and grants them.
func prepareOne(command *cobra.Command, flags *settings.Settings, p *preparing.Preparer, plan preparing.Plan) error {
	made, err := p.Prepare(command.Context(), plan.Skill.Name, plan.Needs)
	if errors.Is(err, errDeclined) {
		return err
	}
	if err == nil && !plan.Granted {
		_, err = granted.Grant(flags, plan.Skill, granted.Texts{Packages: true})
	}
	record := audit.Record{Event: audit.Answer, Method: "prepare", Skill: plan.Skill.Name, Digest: plan.Skill.Digest, Answer: "always"}
	if made != nil {
		record.Granted = []string{"packages " + made.Key}
	}
	if err := flags.RecordedAfter(command.ErrOrStderr(), record, err); err != nil {
		return fmt.Errorf("%s: %s", plan.Skill.Name, terminal.Lines(err))
	}
	fmt.Fprintf(command.OutOrStdout(), "%s: prepared %s\n", terminal.Printable(plan.Skill.Name), preparing.Describe(*made))
	return nil
}

const pruneLong = `Remove prepared packages that no skill has used for a time. What a skill asks for
is prepared again with 'skills-mcp prepare'.`

func newPruneCommand(*settings.Settings) *cobra.Command {
	older := age(30 * 24 * time.Hour)
	command := &cobra.Command{
		Use:     "prune",
		Short:   "Remove prepared packages that are not used any more",
		Long:    pruneLong,
		Example: "  skills-mcp prune\n  skills-mcp prune --older 7d",
		Args:    exit.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			dir, err := environments.Dir()
			if err != nil {
				return err
			}
			store := &environments.Store{Dir: dir}
			pruned, err := store.Prune(time.Duration(older))
			left, listErr := store.List()
			return errors.Join(err, listErr, writePruned(command.OutOrStdout(), pruned, left))
		},
	}
	command.Flags().Var(&older, "older", "remove what was not used for this `DURATION`, such as 30d or 12h")
	hideInherited(command)
	return command
}

func writePruned(out io.Writer, pruned environments.Pruned, left []environments.Environment) error {
	var freed int64
	for _, e := range pruned.Removed {
		freed += e.Bytes
		fmt.Fprintf(out, "removed %s, last used %s\n", preparing.Describe(e), e.Used.Format(time.DateOnly))
	}
	for _, e := range pruned.InUse {
		fmt.Fprintf(out, "left %s, which a program has now\n", preparing.Describe(e))
	}
	_, err := fmt.Fprintf(out, "%s removed, %.1f MiB; %d left\n", terminal.Counted(len(pruned.Removed), "environment"), float64(freed)/(1<<20), len(left))
	return err
}

// age is a duration that can be in days.
type age time.Duration

func (a *age) String() string {
	if days := time.Duration(*a) / (24 * time.Hour); days > 0 && time.Duration(*a)%(24*time.Hour) == 0 {
		return fmt.Sprintf("%dd", days)
	}
	return time.Duration(*a).String()
}

func (a *age) Set(text string) error {
	var days int
	if n, err := fmt.Sscanf(text, "%dd", &days); err == nil && n == 1 && fmt.Sprintf("%dd", days) == text && days >= 0 && days < 100_000 {
		*a = age(time.Duration(days) * 24 * time.Hour)
		return nil
	}
	duration, err := time.ParseDuration(text)
	if err != nil || duration < 0 {
		return fmt.Errorf("%q is no duration such as 30d or 12h", text)
	}
	*a = age(duration)
	return nil
}

func (*age) Type() string { return "duration" }
