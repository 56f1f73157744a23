package developing

import (
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/examples"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/validating"
)

// Round is what a look at the skills found.
type Round struct {
	// Number counts rounds from 1, as in all that is told of this one.
	Number int `json:"round"`
	// Place is what is followed.
	Place string `json:"place"`
	// Changed are the files that changed since the round before.
	Changed []string `json:"changed"`
	// Skills are those that came or of which a file changed, and Gone the names of
	// those that went.
	Skills []*Picture `json:"skills"`
	Gone   []string   `json:"gone"`
	// Hidden are names of skills that the configuration hides from hosts.
	Hidden []string `json:"hidden,omitempty"`
	// New and Fixed are the problems that came and that went.
	New   []catalog.Problem `json:"new"`
	Fixed []catalog.Problem `json:"fixed"`
	// Standing are all problems that there are.
	Standing []catalog.Problem `json:"-"`
	// Valid is how many skills the reference validator accepts, Of how many.
	Valid    int `json:"valid"`
	Of       int `json:"of"`
	Errors   int `json:"errors"`
	Warnings int `json:"warnings"`

	report *validating.Report
}

// newRound returns what a report says.
func newRound(report *validating.Report) Round {
	return Round{
		Skills: []*Picture{}, Gone: []string{}, Standing: report.Problems, report: report,
		Valid: report.Valid(), Of: len(report.Skills), Errors: report.Count(catalog.Error), Warnings: report.Count(catalog.Warning),
	}
}

// Running is an example that is being run.
type Running struct {
	Number int    `json:"round"`
	Skill  string `json:"skill"`
	Name   string `json:"name"`
}

// Example is what came of one.
type Example struct {
	Number int `json:"round"`
	examples.Result
	// Was is passed or failed, where it was run before.
	Was string `json:"was,omitempty"`
	// Same says that it failed before as it does now.
	Same bool `json:"same,omitempty"`
}

const passed, failed = "passed", "failed"

// was notes what came of it the last time.
func (e *Example) was(before examples.Result) {
	e.Was = failed
	if before.Passed {
		e.Was = passed
	}
	e.Same = !e.Passed && !before.Passed && slices.Equal(e.Faults, before.Faults)
}

// End is how the examples stand when all is done.
type End struct {
	Number int `json:"round"`
	// Interrupted says that a save came before all was done, so that a round follows
	// that does the rest.
	Interrupted bool `json:"interrupted,omitempty"`
	// Passed and Failed count all examples of all skills, also those that were not
	// run in this round.
	Passed int `json:"passed"`
	Failed int `json:"failed"`
	// Faults are what is wrong with files of examples.
	Faults []examples.Fault `json:"faults"`

	failing []examples.Result
	ran     bool // any of them in this round
	told    bool // how many there are
}

// add counts what came of the examples of a skill.
func (e *End) add(came *outcomes) {
	for _, result := range came.results {
		if result.Passed {
			e.Passed++
		} else {
			e.Failed++
			e.failing = append(e.failing, result)
		}
	}
	e.Faults = append(e.Faults, came.faults...)
}

// sort has what was added in an order of its own.
func (e *End) sort() {
	slices.SortFunc(e.failing, func(a, b examples.Result) int {
		return strings.Compare(a.Skill+"\x00"+a.File+"\x00"+a.Name, b.Skill+"\x00"+b.File+"\x00"+b.Name)
	})
	slices.SortFunc(e.Faults, func(a, b examples.Fault) int { return strings.Compare(a.String(), b.String()) })
}
