// Package problem has the rules that skills, archives and tools.json files are
// held to, and the problems that breaking them makes.
package problem

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// Severity is what a problem costs.
type Severity int

const (
	// None is what is not reported: a rule that the strict mode alone looks
	// at. No [Problem] has it.
	None Severity = iota - 1
	// Warning is a fault in spite of which the skill is published.
	Warning
	// Error is a fault that keeps a skill, or a root, out of the catalog.
	Error
)

// String returns "none", "warning" or "error".
func (s Severity) String() string {
	switch s {
	case None:
		return "none"
	case Error:
		return "error"
	}
	return "warning"
}

// MarshalText implements [encoding.TextMarshaler].
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Problem is one fault in a skill folder, in words its author can act on.
type Problem struct {
	Severity Severity `json:"severity"`
	// Skill is the skill's name where it is known, or empty.
	Skill string `json:"skill,omitempty"`
	// File is the absolute host path at fault. For a file inside an archive
	// it is the archive's path followed by the path in the archive.
	File string `json:"file"`
	// Line and Column count from 1, columns in characters; 0 means that they
	// are not known.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Rule is the stable kebab-case name of the broken rule, such as
	// "name-format". [Rules] lists them all.
	Rule string `json:"rule"`
	// Winner is the entry document of the skill that has the name, where that is
	// taken, as File has paths.
	Winner string `json:"winner,omitempty"`
	// Message says what is wrong.
	Message string `json:"message"`
	// Hint says what to do about it.
	Hint string `json:"hint,omitempty"`
}

// maxFileProblems bounds how many problems of one file are reported, and
// maxFileWarnings how many of them before an error are warnings: a hostile
// file could have thousands.
const (
	maxFileProblems = 200
	maxFileWarnings = 100
)

// Report collects the problems of one file.
type Report struct {
	File     string
	Mode     Mode
	Problems []Problem
	Errors   int // how many were added, beyond the bound too
}

// Add records that a rule was broken. The severity and the hint are the
// rule's.
func (r *Report) Add(rule string, at Position, format string, args ...any) {
	broken := Lookup(rule)
	severity := broken.In(r.Mode)
	switch severity {
	case None:
		return
	case Error:
		r.Errors++
	}
	if n := len(r.Problems); n >= maxFileProblems || severity == Warning && n >= maxFileWarnings {
		return
	}
	r.Problems = append(r.Problems, Problem{
		Severity: severity,
		File:     r.File,
		Line:     at.Line,
		Column:   at.Column,
		Rule:     broken.Name,
		Message:  fmt.Sprintf(format, args...),
		Hint:     broken.Hint,
	})
}

// Clip shortens untrusted text for a message.
func Clip(text string) string { return strings.ToValidUTF8(truncate.After(text, 80), "\ufffd") }

// IsMisleading reports whether a name holds characters that do not show and
// change how others do: control characters, separators of lines, and those
// that turn the direction of writing.
func IsMisleading(name string) bool {
	return strings.ContainsFunc(name, func(c rune) bool {
		return unicode.In(c, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
	})
}

// Cause returns the innermost reason of a file error, without its path.
func Cause(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err
	}
	return err
}

// Compare orders problems by file, position, rule and message.
func Compare(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Message, b.Message),
	)
}
