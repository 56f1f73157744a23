package server

import (
	"context"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxCompletions is the protocol's limit of values in one answer.
const maxCompletions = 100

// completer completes the variables of the skill-file template.
type completer struct{ server *Server }

// CompleteResourceArgument gives skill paths for {skill} and, where the
// context names a skill, those of its files that may be read for {file}. What it does not know has no
// completions; that is no error.
func (c completer) CompleteResourceArgument(_ context.Context, uri string, argument mcp.CompleteArgument, known mcp.CompleteContext) (*mcp.Completion, error) {
	snapshot := c.server.skills.Snapshot()
	if !strings.HasPrefix(uri, "skill://") {
		return &mcp.Completion{Values: []string{}}, nil
	}
	switch argument.Name {
	case "skill":
		return completion(skillPaths(snapshot), argument.Value), nil
	case "file":
		return completion(c.files(snapshot, known.Arguments["skill"]), argument.Value), nil
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

func (c completer) files(snapshot *catalog.Snapshot, skillPath string) []string {
	skill, _, err := resources.Resolve(snapshot, "skill://"+skillPath)
	if err != nil {
		return nil
	}
	var paths []string
	readable := c.server.skills.Readable(skill)
	_ = skills.WithTree(skill, func(tree *contained.Dir) error {
		entries, _, err := tree.List(".", skills.ListDepth)
		for _, entry := range entries {
			if !entry.Dir && readable(entry.Path) {
				paths = append(paths, entry.Path)
			}
		}
		return err
	})
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
