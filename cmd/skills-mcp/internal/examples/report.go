package examples

import (
	"fmt"
	"io"
	"strings"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// maxShownChars is how much of a failed example's output is shown.
const maxShownChars = 2000

// Result is what came of one example.
type Result struct {
	Skill  string `json:"skill"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Name   string `json:"name"`
	Passed bool   `json:"passed"`
	// DurationMs is that of the run, in milliseconds.
	DurationMs int64   `json:"durationMs"`
	Faults     []Fault `json:"faults"`
	// Stdout and Stderr are those of an example that did not pass.
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
}

// Report is what came of all.
type Report struct {
	Examples []Result `json:"examples"`
	Passed   int      `json:"passed"`
	Failed   int      `json:"failed"`
	// Faults are what is wrong with files of examples.
	Faults []Fault `json:"faults"`
}

// Add counts a result.
func (r *Report) Add(result Result) {
	r.Examples = append(r.Examples, result)
	if result.Passed {
		r.Passed++
	} else {
		r.Failed++
	}
}

// OK reports whether all passed and nothing is wrong with a file.
func (r *Report) OK() bool { return r.Failed == 0 && len(r.Faults) == 0 }

// Write writes a result for people.
func (r Result) Write(out io.Writer) error {
	var text strings.Builder
	if r.Passed {
		fmt.Fprintf(&text, "ok    %s: %s (%d ms)\n", terminal.Printable(r.Skill), terminal.Shorten(r.Name, 200), r.DurationMs)
	} else {
		fmt.Fprintf(&text, "FAIL  %s: %s\n", terminal.Printable(r.Skill), terminal.Shorten(r.Name, 200))
		for _, fault := range r.Faults {
			fmt.Fprintf(&text, "      %s\n", fault)
		}
		writeStream(&text, "stdout", r.Stdout)
		writeStream(&text, "stderr", r.Stderr)
	}
	_, err := io.WriteString(out, text.String())
	return err
}

// writeStream shows the end of what a program wrote, where errors stand.
func writeStream(text *strings.Builder, name, data string) {
	if data == "" {
		return
	}
	runes := []rune(strings.TrimRight(data, "\n"))
	if len(runes) > maxShownChars {
		runes, name = runes[len(runes)-maxShownChars:], name+", its end"
	}
	fmt.Fprintf(text, "      --- %s ---\n", name)
	for line := range strings.Lines(terminal.Escaped(string(runes))) {
		fmt.Fprintf(text, "      %s\n", strings.TrimRight(line, "\r\n"))
	}
}

// String is a fault as editors and terminals link it.
func (f Fault) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	return terminal.Printable(at + ": " + f.Message)
}

// WriteFaults writes what is wrong with files.
func WriteFaults(out io.Writer, faults []Fault) error {
	for _, fault := range faults {
		if _, err := fmt.Fprintf(out, "FAIL  %s\n", fault); err != nil {
			return err
		}
	}
	return nil
}

// WriteSum writes how many passed.
func (r *Report) WriteSum(out io.Writer) error {
	_, err := fmt.Fprintln(out, Sum(len(r.Examples), r.Failed, len(r.Faults)))
	return err
}

// Sum says in a line how many examples were run, how many of them failed, and how
// many faults there are in files of examples.
func Sum(ran, failed, faults int) string {
	if ran == 0 && faults == 0 {
		return fmt.Sprintf("no examples: none of the skills has a %s/*.yaml", dirName)
	}
	sum := fmt.Sprintf("%s, %d failed", terminal.Counted(ran, "example"), failed)
	if faults > 0 {
		sum += fmt.Sprintf(", %s in files of examples", terminal.Counted(faults, "fault"))
	}
	return sum
}
