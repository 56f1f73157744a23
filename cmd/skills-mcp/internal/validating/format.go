package validating

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/listing"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/terminal"
)

// formats are the forms in which a report is written.
var formats = map[string]func(r *Report, out io.Writer) error{
	"text":   (*Report).text,
	"json":   (*Report).json,
	"github": (*Report).github,
	"sarif":  (*Report).sarif,
}

// Formats returns their names.
func Formats() []string { return slices.Sorted(maps.Keys(formats)) }

// Write writes it in one of [Formats].
func (r *Report) Write(out io.Writer, format string) error { return formats[format](r, out) }

// text is for people.
func (r *Report) text(out io.Writer) error {
	var text strings.Builder
	styled := terminal.Styled(out)
	for _, p := range r.Problems {
		listing.WriteStyled(&text, p, styled)
	}
	if len(r.Problems) > 0 {
		text.WriteString("\n")
	}
	text.WriteString(r.Sum(styled) + "\n")
	_, err := io.WriteString(out, strings.TrimPrefix(text.String(), "\n"))
	return err
}

// Sum says in a line what was found.
func (r *Report) Sum(styled func(terminal.Style, string) string) string {
	style := terminal.Good
	if r.Count(catalog.Error) > 0 {
		style = terminal.Fault
	}
	return fmt.Sprintf("%s, %s", styled(style, fmt.Sprintf("%d of %s valid", r.Valid(), terminal.Counted(len(r.Skills), "skill"))),
		terminal.Counted(r.Count(catalog.Error), "error")+", "+terminal.Counted(r.Count(catalog.Warning), "warning"))
}

// json is for programs.
func (r *Report) json(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// github is for the log of a GitHub workflow, which shows each problem at its
// line of a pull request.
func (r *Report) github(out io.Writer) error {
	var text strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&text, "::%s file=%s", p.Severity, property(filepath.ToSlash(p.File)))
		if p.Line > 0 {
			fmt.Fprintf(&text, ",line=%d", p.Line)
		}
		if p.Column > 0 {
			fmt.Fprintf(&text, ",col=%d", p.Column)
		}
		fmt.Fprintf(&text, ",title=%s::%s\n", p.Rule, message(described(p)))
	}
	text.WriteString(r.Sum(func(_ terminal.Style, text string) string { return text }) + "\n")
	_, err := io.WriteString(out, text.String())
	return err
}

// described says what is wrong, and what to do about it.
func described(p catalog.Problem) string {
	if p.Hint == "" {
		return terminal.Printable(p.Message)
	}
	return terminal.Printable(p.Message) + "; " + p.Hint
}

// message and property escape as workflow commands want it. What is no message
// ends at a comma or a colon too.
func message(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(text))
}
