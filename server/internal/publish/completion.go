package publish

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxCompletions is the protocol's limit of values in one answer.
const maxCompletions = 100

// CompleteResourceArgument gives skill paths for {skill} and, where the
// context names a skill, those of its files that may be read for {file}. What it does not know has no
// completions; that is no error.
func (p *Publisher) CompleteResourceArgument(_ context.Context, uri string, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	snapshot := p.Skills.Snapshot()
	if !strings.HasPrefix(uri, "skill://") {
		return &mcp.Completion{Values: []string{}}, nil
	}
	switch argument.Name {
	case "skill":
		return completion(skillPaths(snapshot), argument.Value), nil
	case "file":
		return completion(p.files(snapshot, known.Arguments["skill"]), argument.Value), nil
	}
	return &mcp.Completion{Values: []string{}}, nil
}

func skillPaths(snapshot *catalog.Snapshot) []string {
	paths := make([]string, 0, len(snapshot.Skills()))
	for _, skill := range snapshot.Skills() {
		paths = append(paths, skill.Path)
	}
	return paths
}

func (p *Publisher) files(snapshot *catalog.Snapshot, skillPath string) []string {
	skill, _, err := resources.Resolve(snapshot, "skill://"+skillPath)
	if err != nil {
		return nil
	}
	var paths []string
	dir, err := skills.Open(skill)
	if err != nil {
		return nil
	}
	defer dir.Close()
	readable := p.Skills.Readable(skill)
	entries, _, _ := dir.List(".", skills.ListDepth)
	for _, entry := range entries {
		if !entry.Dir && readable(entry.Path) {
			paths = append(paths, entry.Path)
		}
	}
	return paths
}

// completion keeps the values that begin with what was typed.
func completion(all []string, typed string) *mcp.Completion {
	result := &mcp.Completion{Values: []string{}}
	for _, value := range all {
		if !strings.HasPrefix(value, typed) {
			continue
		}
		result.Total++
		if len(result.Values) < maxCompletions {
			result.Values = append(result.Values, value)
		}
	}
	result.HasMore = result.Total > len(result.Values)
	return result
}
