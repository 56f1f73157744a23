// Package records prints records of the audit log, or what they sum up to.
package records

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
	"github.com/skills-mcp/skills-mcp/internal/audit"
)

// Form says how records are printed: as lines of text, as lines of JSON, or summed
// up by skill.
type Form struct{ JSON, Summary bool }

// Printer prints records in one of the forms.
type Printer struct {
	out       io.Writer
	form      Form
	records   int
	summaries audit.Summaries
}

// NewPrinter returns a printer to which records are added.
func NewPrinter(out io.Writer, form Form) *Printer {
	return &Printer{out: out, form: form}
}

// Add prints a record, or adds it to the sums.
func (p *Printer) Add(record audit.Record) error {
	p.records++
	switch {
	case p.form.Summary:
		p.summaries.Add(record)
		return nil
	case p.form.JSON:
		return terminal.PrintJSON(p.out, record)
	}
	_, err := fmt.Fprintln(p.out, recordText(record))
	return err
}

// End prints what is known when all records of a directory were seen.
func (p *Printer) End(dir string, broken int) error {
	switch {
	case p.form.Summary && p.form.JSON:
		return terminal.PrintJSON(p.out, struct {
			Records int             `json:"records"`
			Broken  int             `json:"broken"`
			Skills  []audit.Summary `json:"skills"`
		}{p.records, broken, p.summaries.List()})
	case p.form.JSON:
		return nil
	case p.form.Summary && p.records > 0:
		if err := printSummaries(p.out, p.summaries.List()); err != nil {
			return err
		}
	}
	text := terminal.Counted(p.records, "record") + " in " + dir
	if broken > 0 {
		text += ", " + terminal.Counted(broken, "broken line")
	}
	_, err := fmt.Fprintln(p.out, terminal.Escaped(text))
	return err
}

// recordText is a record on one line.
func recordText(r audit.Record) string {
	details := []string{r.Error, r.Answer, answeredText(r), exitText(r), changesText(r.Changes), strings.Join(networkTexts(r.Hosts, r.HostsOmitted, r.SecretsSent), ", "), sandboxText(r)}
	if r.Outcome == audit.Denied && r.Rule != "" {
		details = append(details, "rule "+strconv.Quote(r.Rule))
	}
	details = slices.DeleteFunc(append(details, string(r.Input)), func(text string) bool { return text == "" })
	return fmt.Sprintf("%s  %-10s  %-16s  %-20s  %9s  %s", r.Time.UTC().Format(time.RFC3339), terminal.Field(string(r.Outcome), 10), terminal.Field(cmp.Or(r.Tool, r.Method, string(r.Event)), 24),
		terminal.Field(r.Skill, 64), milliseconds(r.DurationMs), terminal.Field(strings.Join(details, ", "), 300))
}

// answeredText is what a skill has after the user granted or revoked something.
func answeredText(r audit.Record) string {
	if r.Event != audit.Answer {
		return ""
	}
	return strings.Join(r.Granted, "; ")
}

func exitText(r audit.Record) string {
	if r.ExitCode != nil {
		return fmt.Sprintf("exit code %d", *r.ExitCode)
	}
	return r.Status
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
	if err := table.Flush(); err != nil {
		return err
	}
	for _, sum := range summaries {
		if texts := networkTexts(sum.Hosts, sum.HostsOmitted, sum.SecretsSent); len(texts) > 0 {
			fmt.Fprintf(out, "\n%s\n", terminal.Field(sum.Skill, 64))
			for _, text := range texts {
				fmt.Fprintf(out, "    %s\n", terminal.Escaped(text))
			}
		}
	}
	return nil
}

// maxHosts is how many hosts of a record, or of a sum, are printed.
const maxHosts = 50

// networkTexts say what was asked of the network: hosts that were reached, those
// that were refused, and secrets that were sent.
func networkTexts(hosts []audit.Host, omitted int, secrets []string) (texts []string) {
	for _, host := range hosts[min(len(hosts), maxHosts):] {
		omitted += host.Requests + host.Refused
	}
	for _, host := range hosts[:min(len(hosts), maxHosts)] {
		address := "no host"
		if host.Host != "" {
			address = net.JoinHostPort(host.Host, strconv.Itoa(host.Port))
		}
		if host.Requests > 0 {
			texts = append(texts, fmt.Sprintf("reached %s: %d", address, host.Requests))
		}
		if host.Refused > 0 {
			texts = append(texts, fmt.Sprintf("refused %s: %d (%s)", address, host.Refused, host.Reason))
		}
	}
	if omitted > 0 {
		texts = append(texts, fmt.Sprintf("other hosts: %d", omitted))
	}
	if len(secrets) > 0 {
		texts = append(texts, "sent secrets: "+strings.Join(secrets, ", "))
	}
	return texts
}

func printSummary(table io.Writer, sum audit.Summary) {
	fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n", terminal.Field(sum.Skill, 64), sum.Calls, sum.Runs, sum.Failed, sum.Denied, sum.Unfinished,
		milliseconds(sum.DurationMs), sum.Last.UTC().Format(time.RFC3339))
}
