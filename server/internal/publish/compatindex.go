package publish

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
)

// compatIndexURI is where drafts of the Skills extension had the list of
// skills, before there was skills/list. Some hosts still look there. No skill
// can have this URI, since a name holds no dot.
const compatIndexURI = "skill://index.json"

// compatIndexContents is the index by the draft's schema.
func compatIndexContents(snapshot *catalog.Snapshot) (mcp.ResourceContents, error) {
	type entry struct {
		Name        string `json:"name"`
		Type        string `json:"type"`
		Description string `json:"description"`
		URL         string `json:"url"`
	}
	entries := []entry{}
	for _, skill := range snapshot.Skills() {
		entries = append(entries, entry{skill.Name, "skill-md", skill.Description, resources.URI(skill, skill.Entry)})
	}
	encoded, err := json.MarshalIndent(map[string]any{
		"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": entries,
	}, "", "  ")
	if err != nil {
		return nil, err
	}
	return mcp.TextResourceContents{URI: compatIndexURI, MIMEType: "application/json", Text: string(encoded) + "\n"}, nil
}

func compatIndexResource() mcp.Resource {
	return mcp.NewResource(compatIndexURI, "index.json",
		mcp.WithResourceDescription("All skills, for hosts that do not know skills/list yet."),
		mcp.WithMIMEType("application/json"))
}
