package skills

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/editdistance"
)

// similarNames returns up to three names that a misspelt one may have meant.
func similarNames(snapshot *catalog.Snapshot, name string) []string {
	const farthest, most = 3, 3
	if len(name) > 128 {
		return nil
	}
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	wanted := strings.ToLower(name)
	for _, skill := range snapshot.Skills() {
		distance := editdistance.Between(wanted, skill.Name)
		if strings.Contains(skill.Name, wanted) || strings.Contains(wanted, skill.Name) {
			distance = min(distance, 1)
		}
		if distance <= min(farthest, len(wanted)/2) {
			near = append(near, candidate{skill.Name, distance})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	names := make([]string, 0, most)
	for _, c := range near[:min(most, len(near))] {
		names = append(names, c.name)
	}
	return names
}
