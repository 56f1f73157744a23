package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// lack is what a program of a skill needs and the sandbox has not.
type lack struct {
	kind, name string
	// script is the program that needs it: a path relative to the skill, or
	// the name of a tool.
	script string
	// sure tells that the program cannot go around it.
	sure bool
}

// The kinds of what can be missing.
const (
	missingInterpreter = "interpreter"
	missingProgram     = "program" // of a tool
	missingPython      = "python module"
	missingNode        = "node package"
)

// what names it to a model.
func (l lack) what() string { return l.kind + " " + display.Line(truncate.After(l.name, maxLackName)) }

// Bounds of what a model is told.
const (
	maxLacks       = 12 // of each list
	maxLackScripts = 3  // of each thing
	maxLackName    = 80 // characters
)

// lackText says what a sandbox lacks, or nothing.
func lackText(lacks []lack) string {
	var sentences []string
	if sure := lackList(lacks, true); sure != "" {
		sentences = append(sentences, "Not in the sandbox: "+sure+".")
	}
	if perhaps := lackList(lacks, false); perhaps != "" {
		sentences = append(sentences, "Perhaps needed, and not in the sandbox: "+perhaps+".")
	}
	return strings.Join(sentences, " ")
}

// lackList names those that are sure, or those that are not, with who needs
// them.
func lackList(lacks []lack, sure bool) string {
	needed := map[string][]string{}
	for _, l := range lacks {
		if l.sure == sure && !slices.Contains(needed[l.what()], l.script) {
			needed[l.what()] = append(needed[l.what()], l.script)
		}
	}
	var items []string
	for what, scripts := range needed {
		slices.Sort(scripts)
		for i := range scripts {
			scripts[i] = display.Path(scripts[i])
		}
		items = append(items, fmt.Sprintf("%s (%s)", what, andMore(scripts, maxLackScripts)))
	}
	slices.Sort(items)
	return andMore(items, maxLacks)
}

// andMore joins the first n items, and counts the others.
func andMore(items []string, n int) string {
	if more := len(items) - n; more > 0 {
		return strings.Join(items[:n], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(items, ", ")
}

// lacksOf gives what a run of scripts lacks. A shell command runs those that it
// names.
func lacksOf(lacks []lack, script, command string) (found []lack) {
	for _, l := range lacks {
		if l.script == script || command != "" && l.kind != missingProgram && strings.Contains(command, l.script) {
			found = append(found, l)
		}
	}
	return found
}
