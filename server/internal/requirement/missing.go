package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

// Missing is what a program of a skill needs and the sandbox does not have.
type Missing struct {
	kind, name string
	// script is the program that needs it: a path relative to the skill, or
	// the name of a tool.
	script string
	// sure reports that the program cannot go around it.
	sure bool
}

// The kinds of what can be missing.
const (
	interpreterKind = "interpreter"
	programKind     = "program" // of a tool
	pythonKind      = "python module"
	nodeKind        = "node package"
)

// isPackage reports that an index may have it.
func (m Missing) isPackage() bool { return m.kind == pythonKind || m.kind == nodeKind }

// what names it to a model.
func (m Missing) what() string { return m.kind + " " + display.Line(truncate.After(m.name, maxName)) }

// Bounds of what a model is told.
const (
	maxMissing = 12 // of each list
	maxScripts = 3  // of each thing
	maxName    = 80 // characters
)

// Text says what a sandbox is missing, or nothing.
func Text(missing []Missing) string {
	var sentences []string
	if sure := list(missing, true); sure != "" {
		sentences = append(sentences, "Not in the sandbox: "+sure+".")
	}
	if perhaps := list(missing, false); perhaps != "" {
		sentences = append(sentences, "Perhaps needed, and not in the sandbox: "+perhaps+".")
	}
	return strings.Join(sentences, " ")
}

// list names those that are sure, or those that are not, with who needs them.
func list(missing []Missing, sure bool) string {
	scripts := map[string][]string{}
	for _, m := range missing {
		if m.sure == sure && !slices.Contains(scripts[m.what()], m.script) {
			scripts[m.what()] = append(scripts[m.what()], m.script)
		}
	}
	var items []string
	for what, needing := range scripts {
		slices.Sort(needing)
		for i := range needing {
			needing[i] = display.Path(needing[i])
		}
		items = append(items, fmt.Sprintf("%s (%s)", what, andMore(needing, maxScripts)))
	}
	slices.Sort(items)
	return andMore(items, maxMissing)
}

// andMore joins the first n items, and counts the others.
func andMore(items []string, n int) string {
	if more := len(items) - n; more > 0 {
		return strings.Join(items[:n], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(items, ", ")
}

// OfRun returns what is missing for a run of a script, or of a shell command,
// which runs the scripts that it names.
func OfRun(missing []Missing, script, command string) (found []Missing) {
	for _, m := range missing {
		if m.script == script || command != "" && m.kind != programKind && strings.Contains(command, m.script) {
			found = append(found, m)
		}
	}
	return found
}
