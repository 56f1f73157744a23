package catalog

import "github.com/skills-mcp/skills-mcp/catalog/internal/problem"

// Problem is one fault in a skill folder, in words its author can act on.
type Problem = problem.Problem

// Severity is what a problem costs.
type Severity = problem.Severity

const (
	// Warning is a fault in spite of which the skill is published.
	Warning = problem.Warning
	// Error is a fault that keeps a skill, or a root, out of the catalog.
	Error = problem.Error
)

// Rule is one thing that roots, skills, archives and tools.json files are
// held to.
type Rule = problem.Rule

// Rules returns every rule, in the order of the documentation. The caller may
// change the slice.
func Rules() []Rule { return problem.Rules() }

// CompareProblems orders problems by file, position, rule and message.
func CompareProblems(a, b Problem) int { return problem.Compare(a, b) }
