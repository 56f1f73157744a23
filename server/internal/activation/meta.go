package activation

import (
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
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
	shown   forCard
}

// forCard is what a card shows besides: models read it in the text.
type forCard struct {
	BaseDirectory string      `json:"baseDirectory"`
	Files         []shownFile `json:"files"`
	FilesOmitted  bool        `json:"filesOmitted,omitempty"`
	// NotEnforced says that what is not among the allowed tools is logged only.
	NotEnforced bool `json:"notEnforced,omitempty"`
	// Sandbox is what programs run in, or Unavailable says why none do.
	Sandbox     string `json:"sandbox,omitempty"`
	Unavailable string `json:"unavailable,omitempty"`
}

type shownFile struct {
	Path string `json:"path"`
	Size int64  `json:"size"`
}

func (p *page) forCard() forCard {
	info := p.Sandbox.Info()
	shown := forCard{
		BaseDirectory: p.base(), Files: []shownFile{}, FilesOmitted: p.more,
		NotEnforced: p.Skills.Policy.Mode == policy.Log, Unavailable: info.Unavailable,
	}
	if info.Runs() {
		shown.Sandbox = info.Backend + ", tier " + info.Tier
	}
	for _, file := range p.files {
		shown.Files = append(shown.Files, shownFile{strings.ToValidUTF8(file.Path, "\uFFFD"), file.Size})
	}
	return shown
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

// Meta is what programs are told of an activation, in the answer's _meta: a card
// too, where the host shows one.
func (a Activation) Meta(card bool) *mcp.Meta {
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
	if card {
		fields["card"] = a.shown
	}
	return &mcp.Meta{AdditionalFields: fields}
}
