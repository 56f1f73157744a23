package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
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
	since           string
	skill, tool     string
	failed, denied  bool
	asJSON, summary bool
}

func newAuditCommand(flags *settings) *cobra.Command {
	var wanted auditFlags
	command := &cobra.Command{
		Use:     "audit",
		Short:   "Print what the audit log has, or sum it up",
		Long:    auditLong,
		Example: auditExample,
		Args:    noArguments,
		RunE:    func(command *cobra.Command, _ []string) error { return showAudit(command, flags, wanted) },
	}
	own := command.Flags()
	own.SortFlags = false
	own.StringVar(&wanted.since, "since", "", "only what is younger than `AGE`, such as 90m, 24h or 7d, or since a time, such\nas 2026-11-22 or 2026-11-22T15:04:05Z")
	own.StringVar(&wanted.skill, "skill", "", "only what is about the skill of that `NAME`")
	own.StringVar(&wanted.tool, "tool", "", "only calls of the tool of that `NAME`")
	own.BoolVar(&wanted.failed, "failed", false, "only what failed, or did not end; with --denied that too")
	own.BoolVar(&wanted.denied, "denied", false, "only what the policy or the user forbade")
	own.BoolVar(&wanted.summary, "summary", false, "print sums for each skill: calls, runs, failures, denials, time")
	own.BoolVar(&wanted.asJSON, "json", false, "print a JSON object a line, or one of all sums")
	return command
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
	age, err := time.ParseDuration(text)
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		var days uint64
		days, err = strconv.ParseUint(number, 10, 16)
		age = time.Duration(days) * 24 * time.Hour
	}
	if err != nil || age < 0 {
		return time.Time{}, usageError{fmt.Errorf("--since %q is neither an age, such as 24h or 7d, nor a time, such as 2026-11-22", text)}
	}
	return now.Add(-age), nil
}

// showAudit prints records, or what they sum up to.
func showAudit(command *cobra.Command, flags *settings, wanted auditFlags) error {
	if err := flags.read(nil); err != nil {
		return err
	}
	dir, err := flags.auditDir()
	if err == nil && dir == "" {
		err = asUsage(flags.Refuse("audit.dir", errors.New("is off: there is no audit log to print")))
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
	printer := newAuditPrinter(command.OutOrStdout(), wanted)
	unreadable := false
	for record, err := range reader.Records() {
		switch {
		case err != nil:
			fmt.Fprintf(command.ErrOrStderr(), "skills-mcp: %s\n", escaped(err.Error()))
			unreadable = true
		case filter.Wants(record):
			if err := printer.add(record); err != nil {
				return err
			}
		}
	}
	if err := printer.end(dir, reader.Broken); err != nil {
		return err
	}
	if unreadable {
		return errReported
	}
	return nil
}

// auditPrinter prints records in one of the forms.
type auditPrinter struct {
	out       io.Writer
	flags     auditFlags
	records   int
	summaries audit.Summaries
}

func newAuditPrinter(out io.Writer, flags auditFlags) *auditPrinter {
	return &auditPrinter{out: out, flags: flags}
}

func (p *auditPrinter) add(record audit.Record) error {
	p.records++
	switch {
	case p.flags.summary:
		p.summaries.Add(record)
		return nil
	case p.flags.asJSON:
		return printJSON(p.out, record)
	}
	_, err := fmt.Fprintln(p.out, recordText(record))
	return err
}

// end prints what is known when all records were seen.
func (p *auditPrinter) end(dir string, broken int) error {
	switch {
	case p.flags.summary && p.flags.asJSON:
		return printJSON(p.out, struct {
			Records int             `json:"records"`
			Broken  int             `json:"broken"`
			Skills  []audit.Summary `json:"skills"`
		}{p.records, broken, p.summaries.List()})
	case p.flags.asJSON:
		return nil
	case p.flags.summary && p.records > 0:
		if err := printSummaries(p.out, p.summaries.List()); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%d records in %s", p.records, dir)
	if broken > 0 {
		text += fmt.Sprintf(", %d broken lines", broken)
	}
	_, err := fmt.Fprintln(p.out, escaped(text))
	return err
}

// printJSON prints a value as a line of JSON that a terminal shows as it is.
func printJSON(out io.Writer, value any) error {
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return err
	}
	_, err := io.WriteString(out, escaped(encoded.String()))
	return err
}

// recordText is a record on one line.
func recordText(r audit.Record) string {
	what := r.Tool
	if what == "" {
		what = r.Method
	}
	if what == "" {
		what = string(r.Event)
	}
	details := []string{}
	for _, detail := range []string{r.Error, r.Answer, exitText(r), changesText(r.Changes), sandboxText(r)} {
		if detail != "" {
			details = append(details, detail)
		}
	}
	if r.Outcome == audit.Denied && r.Rule != "" {
		details = append(details, "rule "+strconv.Quote(r.Rule))
	}
	details = append(details, string(r.Input))
	return fmt.Sprintf("%s  %-10s  %-16s  %-20s  %9s  %s", r.Time.UTC().Format(time.RFC3339), field(string(r.Outcome), 10), field(what, 24),
		field(r.Skill, 64), milliseconds(r.DurationMs), field(strings.Join(details, ", "), 300))
}

func exitText(r audit.Record) string {
	switch {
	case r.ExitCode != nil:
		return fmt.Sprintf("exit code %d", *r.ExitCode)
	default:
		return r.Status
	}
}

func changesText(all []audit.Changes) string {
	var texts []string
	for _, c := range all {
		if c.Discarded {
			texts = append(texts, c.ID+": discarded")
			continue
		}
		texts = append(texts, fmt.Sprintf("%s: %d held, %d applied, %d conflicts, %d refused", c.ID, c.Held, len(c.Applied), len(c.Conflicts), len(c.Refused)))
	}
	return strings.Join(texts, ", ")
}

func sandboxText(r audit.Record) string {
	if r.Backend == "" {
		return ""
	}
	return r.Backend + " " + r.Tier
}

// field puts text of others on one line of at most n characters, which says
// what it is and nothing else.
func field(text string, n int) string {
	if text == "" {
		text = "-"
	}
	return truncate.To(escaped(strings.Join(strings.Fields(text), " ")), n)
}

func milliseconds(ms float64) string {
	switch {
	case ms >= 10_000:
		return fmt.Sprintf("%.0f s", ms/1000)
	case ms >= 1000:
		return fmt.Sprintf("%.1f s", ms/1000)
	}
	return fmt.Sprintf("%.1f ms", ms)
}

// printSummaries prints a table with a line for each skill, and one for all.
func printSummaries(out io.Writer, summaries []audit.Summary) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "skill\tcalls\truns\tfailed\tdenied\tunfinished\ttime\tlast")
	total := audit.Summary{Skill: "all"}
	for _, sum := range summaries {
		if sum.Skill == "" {
			sum.Skill = "(no skill)"
		}
		printSummary(table, sum)
		total.Add(sum)
	}
	printSummary(table, total)
	return table.Flush()
}

func printSummary(table io.Writer, sum audit.Summary) {
	fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", field(sum.Skill, 64), sum.Calls, sum.Runs, sum.Failed, sum.Denied, sum.Unfinished,
		milliseconds(sum.DurationMs), sum.Last.UTC().Format(time.RFC3339))
}
