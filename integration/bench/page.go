package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// report is what a run found out.
type report struct {
	machine, version string
	rows             []row
	relevance        string
}

// Between these lines of a page the report stands.
const (
	pageBegin = "<!-- bench -->\n"
	pageEnd   = "<!-- /bench -->\n"
)

func (r report) print(out io.Writer) {
	fmt.Fprintf(out, "Measured on %s, with %s of %s.\n\n", r.machine, ours, r.version)
	fmt.Fprintln(out, "| measure, medians | skills-mcp | beside it, and what we are of it | goal | |")
	fmt.Fprintln(out, "|---|---|---|---|---|")
	for _, row := range r.rows {
		row.print(out)
	}
	if r.relevance != "" {
		fmt.Fprintf(out, "\n%s\n", r.relevance)
	}
}

func (r row) print(out io.Writer) {
	value := "not measured: " + r.missing
	var beside []string
	for _, m := range r.medians {
		if m.side == ours {
			value = amount(m.value, r.unit)
			continue
		}
		own, _ := r.of(ours)
		beside = append(beside, fmt.Sprintf("%s %s (%s)", m.side, amount(m.value, r.unit), ratio(own/m.value)))
	}
	verdict := ""
	if met, known := r.met(); known {
		verdict = map[bool]string{true: "met", false: "not met"}[met]
	}
	if r.regressed() {
		verdict = strings.TrimPrefix(verdict+", regressed", ", ")
	}
	fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", r.name, value, strings.Join(beside, ", "), r.goal.text(r.unit), verdict)
}

func (g goal) text(unit string) string {
	switch bound := "at most"; {
	case g.bound == 0:
		return ""
	case g.atLeast:
		bound = "at least"
		fallthrough
	default:
		if g.of == "" {
			return bound + " " + amount(g.bound, unit)
		}
		return fmt.Sprintf("%s %s of %s", bound, ratio(g.bound), g.of)
	}
}

// amount writes a value with its unit, to three digits.
func amount(value float64, unit string) string {
	digits := 0
	if value < 100 {
		digits = 1
	}
	if value < 10 {
		digits = 2
	}
	return strings.TrimSuffix(strings.TrimSuffix(fmt.Sprintf("%.*f", digits, value), ".00"), ".0") + " " + unit
}

func ratio(of float64) string { return fmt.Sprintf("%.2g times", of) }

// update writes the report into a page.
func (r report) update(path string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, begun := bytes.Cut(page, []byte(pageBegin))
	_, tail, ended := bytes.Cut(rest, []byte(pageEnd))
	if !begun || !ended {
		return fmt.Errorf("%s has no lines %q and %q", path, pageBegin, pageEnd)
	}
	var text bytes.Buffer
	r.print(&text)
	page = bytes.Join([][]byte{head, []byte(pageBegin), text.Bytes(), []byte(pageEnd), tail}, nil)
	return os.WriteFile(path, page, 0o644)
}

// regressed names what is clearly worse than in the other build.
func (r report) regressed() error {
	var worse []string
	for _, row := range r.rows {
		if row.regressed() {
			worse = append(worse, row.name)
		}
	}
	if worse == nil {
		return nil
	}
	return fmt.Errorf("%w: %s", errRegressed, strings.Join(worse, "; "))
}

// version returns what a build says it is.
func version(binary string) string {
	out, err := exec.Command(binary, "--version").Output()
	if err != nil {
		return "an unknown version"
	}
	fields := strings.Fields(string(out))
	return "version " + fields[len(fields)-1]
}
