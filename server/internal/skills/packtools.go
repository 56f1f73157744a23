package skills

import (
	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// maxToolsBytes bounds a tools.json, in bytes.
const maxToolsBytes = 256 << 10

// ReadTools reads the tools of a skill's tools.json: see [ParseTools].
func ReadTools(skill *catalog.Skill, dir *contained.Dir) (tools []catalog.Tool, faults []string, err error) {
	document, err := ReadToolsFile(dir)
	if err != nil {
		return nil, nil, err
	}
	return ParseTools(skill, document)
}

// ReadToolsFile returns a tools.json as it is.
func ReadToolsFile(dir *contained.Dir) ([]byte, error) {
	content, err := dir.ReadAll("tools.json", maxToolsBytes)
	return content.Data, err
}

// ParseTools returns the tools of a skill's tools.json, of which there is at
// least one. faults say what was wrong with others that were left out.
func ParseTools(skill *catalog.Skill, document []byte) (tools []catalog.Tool, faults []string, err error) {
	tools, problems := catalog.ParseTools("tools.json", document)
	for _, problem := range problems {
		if problem.Severity == catalog.Error {
			faults = append(faults, problem.Message)
		}
	}
	if len(tools) > 0 {
		return tools, faults, nil
	}
	reason := "it lists no tools"
	if len(faults) > 0 {
		reason = faults[0]
	}
	return nil, nil, failure.New(failure.InvalidTools, "Follow the skill's instructions with exec's `script` or `command` instead.",
		"tools.json of skill %q cannot be used: %s", skill.Name, reason)
}
