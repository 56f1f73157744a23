package skills

import (
	"slices"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// ProblemsURI is the resource of what is wrong with the skills. No skill can have
// it, whose URIs have another scheme.
const ProblemsURI = "skills://problems"

// Problems returns what is wrong with the skills of a snapshot, as far as clients
// may hear of it.
func (a Access) Problems(snapshot *catalog.Snapshot) []catalog.Problem {
	return slices.Collect(a.Catalog.Public(snapshot))
}

// AnyProblem reports whether there are such problems.
func (a Access) AnyProblem(snapshot *catalog.Snapshot) bool {
	for range a.Catalog.Public(snapshot) {
		return true
	}
	return false
}
