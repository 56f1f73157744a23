package publish

import (
	"context"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxCompletions is the protocol's limit of values in one answer.
const maxCompletions = 100

// CompleteResourceArgument returns skill paths for {skill} and, where the
// context names a skill, those of its files that may be read for {file}. What it
// does not know has no completions; that is no error.
func (p *Publisher) CompleteResourceArgument(_ context.Context, uri string, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	var all []string
	switch snapshot := p.Skills.Snapshot(); {
	case !strings.HasPrefix(uri, "skill://"):
	case argument.Name == "skill":
		for _, skill := range snapshot.Skills() {
			all = append(all, skill.Path)
		}
	case argument.Name == "file":
		if skill, _, err := resources.Resolve(snapshot, "skill://"+known.Arguments["skill"]); err == nil {
			readable := p.Skills.Readable(skill)
			all = slices.DeleteFunc(skills.Files(skill, skills.ListDepth), func(file string) bool { return !readable(file) })
		}
	}
	result := &mcp.Completion{Values: []string{}}
	for _, value := range all {
		if !strings.HasPrefix(value, argument.Value) {
			continue
		}
		result.Total++
		if len(result.Values) < maxCompletions {
			result.Values = append(result.Values, value)
		}
	}
	result.HasMore = result.Total > len(result.Values)
	return result, nil
}
