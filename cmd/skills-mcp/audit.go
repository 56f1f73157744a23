package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/records"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/settings"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/audit"
)

const auditLong = `Print what the audit log has, the oldest first: every call of a tool, every
reading of a skill by another way, every change applied and every answer given.

The log is in the directory that --audit names. It is JSON lines, which other
programs can read and follow too; docs/audit.md has their fields. Times are UTC.`

const auditExample = `  # What was denied in the last week
  skills-mcp audit --since 7d --denied

  # How often each skill was used, how it went, and how long it took
  skills-mcp audit --summary

  # The commands of one skill that failed, for another program
  skills-mcp audit --skill csv-profile --tool exec --failed --json | jq -c .input`

// auditFlags say which records are wanted, and how.
type auditFlags struct {
	since          string
	skill, tool    string
	failed, denied bool
	form           records.Form
}

func newAuditCommand(flags *settings.Settings) *cobra.Command {
	var wanted auditFlags
	command := &cobra.Command{
		Use:     "audit",
		Short:   "Print what the audit log has, or sum it up",
		Long:    auditLong,
		Example: auditExample,
		Args:    exit.NoArguments,
		RunE:    func(command *cobra.Command, _ []string) error { return showAudit(command, flags, wanted) },
	}
	own := command.Flags()
	own.SortFlags = false
	sinceFlag(own, &wanted.since)
	own.StringVar(&wanted.skill, "skill", "", "only what is about the skill of that `NAME`")
	own.StringVar(&wanted.tool, "tool", "", "only calls of the tool of that `NAME`")
	own.BoolVar(&wanted.failed, "failed", false, "only what failed, or did not end; with --denied that too")
	own.BoolVar(&wanted.denied, "denied", false, "only what the policy or the user forbade")
	own.BoolVar(&wanted.form.Summary, "summary", false, "print sums for each skill: calls, runs, failures, denials, time; and hosts that\nwere reached or refused, and secrets that were sent")
	own.BoolVar(&wanted.form.JSON, "json", false, "print a JSON object a line, or one of all sums")
	return command
}

func sinceFlag(flags *pflag.FlagSet, since *string) {
	flags.StringVar(since, "since", "", "only what is younger than `AGE`, such as 90m, 24h or 7d, or since a time, such\nas 2026-11-22 or 2026-11-22T15:04:05Z")
}

// filter returns what is wanted.
func (f auditFlags) filter(now time.Time) (filter audit.Filter, err error) {
	filter = audit.Filter{Skill: f.skill, Tool: f.tool}
	if f.failed {
		filter.Outcomes = append(filter.Outcomes, audit.Failed, audit.Unfinished)
	}
	if f.denied {
		filter.Outcomes = append(filter.Outcomes, audit.Denied)
	}
	if f.since != "" {
		filter.Since, err = parseSince(f.since, now)
	}
	return filter, err
}

// parseSince returns the time that an age or a time of day means.
func parseSince(text string, now time.Time) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if since, err := time.Parse(layout, text); err == nil {
			return since, nil
		}
	}
	var ago age
	if ago.Set(text) != nil {
		return time.Time{}, exit.Misused(fmt.Errorf("--since %q is neither an age, such as 24h or 7d, nor a time, such as 2026-11-22", text))
	}
	return now.Add(-time.Duration(ago)), nil
}

// showAudit prints records, or what they sum up to.
func showAudit(command *cobra.Command, flags *settings.Settings, wanted auditFlags) error {
	if err := flags.Read(nil); err != nil {
		return err
	}
	dir, err := flags.AuditDir()
	if err == nil && dir == "" {
		err = settings.AsUsage(flags.Refuse("audit.dir", errors.New("is off: there is no audit log to print")))
	}
	if err != nil {
		return err
	}
	filter, err := wanted.filter(time.Now())
	if err != nil {
		return err
	}
	reader, err := audit.NewReader(dir)
	if err != nil {
		return err
	}
	defer reader.Close()
	printer := records.NewPrinter(command.OutOrStdout(), wanted.form)
	unreadable := false
	for record, err := range reader.Records() {
		switch {
		case err != nil:
			fmt.Fprintf(command.ErrOrStderr(), "skills-mcp: %s\n", terminal.Escaped(err.Error()))
			unreadable = true
		case filter.Wants(record):
			if err := printer.Add(record); err != nil {
				return err
			}
		}
	}
	if err := printer.End(dir, reader.Broken); err != nil {
		return err
	}
	if unreadable {
		return exit.ErrReported
	}
	return nil
}
