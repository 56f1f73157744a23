package catalog

import (
	"cmp"
	"fmt"
)

// Severity tells what a problem costs.
type Severity int

const (
	// None is what is not reported: a rule that [Options.Strict] alone looks
	// at. No [Problem] has it.
	None Severity = iota - 1
	// Warning is a fault in spite of which the skill is published.
	Warning
	// Error is a fault that keeps a skill, or a root, out of the catalog.
	Error
)

// String gives "none", "warning" or "error".
func (s Severity) String() string {
	switch s {
	case None:
		return "none"
	case Error:
		return "error"
	}
	return "warning"
}

// Problem is one fault in a skill folder, in words its author can act on.
type Problem struct {
	Severity Severity
	// Skill is the skill's name where it is known, or empty.
	Skill string
	// File is the absolute host path at fault. For a file inside an archive
	// it is the archive's path followed by the path in the archive.
	File string
	// Line and Column count from 1, columns in characters; 0 means that they
	// are not known.
	Line, Column int
	// Rule is the stable kebab-case name of the broken rule, such as
	// "name-format". [Rules] lists them all.
	Rule string
	// Message says what is wrong.
	Message string
	// Hint says what to do about it.
	Hint string
}

// position is a place in a file, counted from 1; zero where it is not known.
type position struct{ line, column int }

// maxFileProblems bounds how many problems of one file are told, and
// maxFileWarnings how many of them before an error are warnings: a hostile
// file could have thousands.
const (
	maxFileProblems = 200
	maxFileWarnings = 100
)

// report collects the problems of one file.
type report struct {
	file     string
	strict   bool
	problems []Problem
	errors   int // how many were added, told or not
}

// add records that a rule was broken. The severity and the hint are the
// rule's.
func (r *report) add(rule string, at position, format string, args ...any) {
	law := ruleByName[rule]
	severity := law.Lenient
	if r.strict {
		severity = law.Strict
	}
	switch severity {
	case None:
		return
	case Error:
		r.errors++
	}
	if told := len(r.problems); told >= maxFileProblems || severity == Warning && told >= maxFileWarnings {
		return
	}
	r.problems = append(r.problems, Problem{
		Severity: severity,
		File:     r.file,
		Line:     at.line,
		Column:   at.column,
		Rule:     law.Name,
		Message:  fmt.Sprintf(format, args...),
		Hint:     law.Hint,
	})
}

func compareProblems(a, b Problem) int {
	return cmp.Or(
		cmp.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		cmp.Compare(a.Rule, b.Rule),
		cmp.Compare(a.Message, b.Message),
	)
}
