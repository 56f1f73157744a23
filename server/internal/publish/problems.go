package publish

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxShownProblems is how many problems the resource of problems has.
const maxShownProblems = 1000

// problemsResource is in the list where there is a problem.
func problemsResource() mcp.Resource {
	return mcp.NewResource(skills.ProblemsURI, "problems",
		mcp.WithResourceDescription("What is wrong with the skills, by file and line, and what to do about it."),
		mcp.WithMIMEType("application/json"))
}

// problemsContents is what is wrong with the skills.
func problemsContents(problems []catalog.Problem) (mcp.ResourceContents, error) {
	shown := problems[:min(len(problems), maxShownProblems)]
	encoded, err := json.MarshalIndent(struct {
		Problems []catalog.Problem `json:"problems"`
		Omitted  int               `json:"omitted,omitempty"`
	}{append([]catalog.Problem{}, shown...), len(problems) - len(shown)}, "", "  ")
	if err != nil {
		return nil, err
	}
	return mcp.TextResourceContents{URI: skills.ProblemsURI, MIMEType: "application/json", Text: string(encoded) + "\n"}, nil
}
