package activation

import (
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
)

// Activation is what comes of activating a skill.
type Activation struct {
	// Text is what a model reads.
	Text string

	skill   *catalog.Skill
	tools   []catalog.Tool
	next    int64 // where in the entry document the instructions go on, or 0
	entries []string
	granted access.Granted
}

type shownTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// grants is what the skill may do: by its author's allowed-tools, absent where
// nothing is said, and by what the user has granted.
type grants struct {
	AllowedTools []string `json:"allowedTools,omitzero"`
	access.Granted
}

// Meta is what programs are told of an activation, in the answer's _meta.
func (a Activation) Meta() *mcp.Meta {
	tools := make([]shownTool, len(a.tools))
	for i, tool := range a.tools {
		tools[i] = shownTool{tool.Name, tool.Description, tool.InputSchema}
	}
	fields := map[string]any{
		"entryPath": a.skill.Entry, "frontmatter": a.skill.Frontmatter, "tools": tools,
		"truncated": a.next > 0, "grants": grants{a.entries, a.granted},
	}
	if a.next > 0 {
		fields["nextOffset"] = a.next
	}
	return &mcp.Meta{AdditionalFields: fields}
}
