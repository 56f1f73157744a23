// Package diagnosing finds out what works on this machine and what does not, by
// trying it, and says what to do about it.
package diagnosing

import (
	"fmt"
	"io"
	"strings"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// State is how bad a finding is.
type State string

// The states. An Error is something that the user asked for and that cannot work;
// a Warning, what works less well than it might.
const (
	OK      State = "ok"
	Warning State = "warning"
	Error   State = "error"
)

// Finding is one thing that was looked at.
type Finding struct {
	Area  string `json:"area"`
	State State  `json:"state"`
	// Message says what was found.
	Message string `json:"message"`
	// Cure says what to do; it is empty where nothing has to be done.
	Cure string `json:"cure,omitempty"`
}

// Report is all that was found.
type Report struct {
	Version  string    `json:"version"`
	Findings []Finding `json:"findings"`
}

// add adds a finding, of which others wrote parts.
func (r *Report) add(area string, state State, cure, format string, args ...any) {
	message := terminal.Printable(strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; "))
	r.Findings = append(r.Findings, Finding{area, state, message, cure})
}

// OK reports whether there is no error.
func (r *Report) OK() bool {
	for _, finding := range r.Findings {
		if finding.State == Error {
			return false
		}
	}
	return true
}

// Write writes it for people.
func (r *Report) Write(out io.Writer) error {
	var text strings.Builder
	count := map[State]int{}
	for _, finding := range r.Findings {
		fmt.Fprintf(&text, "%-7s  %-12s  %s\n", finding.State, finding.Area, finding.Message)
		if finding.Cure != "" {
			fmt.Fprintf(&text, "%-7s  %-12s  %s\n", "", "", "-> "+finding.Cure)
		}
		count[finding.State]++
	}
	fmt.Fprintf(&text, "\nskills-mcp %s: %s, %s\n", r.Version, terminal.Counted(count[Error], "error"), terminal.Counted(count[Warning], "warning"))
	_, err := io.WriteString(out, text.String())
	return err
}

// JSON writes it as one JSON object.
func (r *Report) JSON(out io.Writer) error { return terminal.PrintJSON(out, r) }

// Failed adds that an area could not be looked at.
func (r *Report) Failed(area string, err error) {
	r.add(area, Error, "correct that, and run doctor again", "%v", err)
}

// Close closes what was looked at.
func (r *Report) Close(area string, opened io.Closer) {
	if err := opened.Close(); err != nil {
		r.Failed(area, err)
	}
}
