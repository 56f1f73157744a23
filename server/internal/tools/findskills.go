package tools

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/resources"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/search"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// A page of findSkills ends at the first of these limits: hosts warn at about
// 10,000 tokens a result.
const (
	maxFoundSkills = 50
	maxFoundBytes  = 24_000
)

type findArguments struct {
	Query  string `json:"query"`
	Cursor string `json:"cursor"`
}

type foundSkill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	URI         string `json:"uri"`
	HasTools    bool   `json:"hasTools"`
}

type foundSkills struct {
	Skills     []foundSkill `json:"skills"`
	Total      int          `json:"total"`
	NextCursor string       `json:"nextCursor,omitempty"`
}

var findOutputSchema = json.RawMessage(`{
  "type": "object",
  "properties": {
    "skills": {"type": "array", "items": {
      "type": "object",
      "properties": {"name": {"type": "string"}, "description": {"type": "string"}, "uri": {"type": "string"},
        "hasTools": {"type": "boolean", "description": "Whether it has a tools.json, whose tools activate lists."}},
      "required": ["name", "description", "uri", "hasTools"]
    }},
    "total": {"type": "integer", "description": "How many skills match in all."},
    "nextCursor": {"type": "string", "description": "Give it to the next call for more."}
  },
  "required": ["skills", "total"]
}`)

func findSkills(access skills.Access) Tool {
	definition := define("findSkills", reads, "Find skills",
		"List the skills there are, or search them by what the task is about. Gives names and descriptions; then call activate with the name that fits.",
		0,
		mcp.WithString("query", mcp.MaxLength(1000),
			mcp.Description("Words of the task; the best matches come first. Empty or absent lists all skills by name.")),
		mcp.WithString("cursor", mcp.MaxLength(1000),
			mcp.Description("nextCursor of the answer before.")),
		mcp.WithRawOutputSchema(findOutputSchema),
	)
	index := new(search.Index)
	return newTool(definition, func(_ context.Context, arguments findArguments) (*mcp.CallToolResult, error) {
		start, err := decodeOffset(arguments.Cursor)
		if err != nil {
			return nil, err
		}
		snapshot := access.Snapshot()
		found, total := snapshot.ForModels(), len(snapshot.ForModels())
		if query := strings.TrimSpace(arguments.Query); query != "" {
			found, total = index.Find(snapshot, query, start, maxFoundSkills+1)
		} else {
			found = found[min(start, total):]
		}
		page := foundPage(found, start, total)
		return mcp.NewToolResultStructured(page, page.text(arguments.Query)), nil
	})
}

// foundPage takes as many skills as fit on a page, at least one. start is where
// they begin among all.
func foundPage(skills []*catalog.Skill, start, total int) foundSkills {
	found := foundSkills{Skills: []foundSkill{}, Total: total}
	size := 0
	for i, skill := range skills {
		entry := foundSkill{Name: skill.Name, Description: display.Line(skill.Description), URI: resources.URI(skill, skill.Entry), HasTools: skill.HasTools}
		size += len(entry.Name) + len(entry.Description) + len(entry.URI) + 70
		if len(found.Skills) == maxFoundSkills || (size > maxFoundBytes && len(found.Skills) > 0) {
			found.NextCursor = encodeOffset(start + i)
			break
		}
		found.Skills = append(found.Skills, entry)
	}
	return found
}

func (f foundSkills) text(query string) string {
	var text strings.Builder
	switch {
	case f.Total == 0 && query != "":
		text.WriteString("No skill matches. Call findSkills without a query to see all of them.\n")
	case f.Total == 0:
		text.WriteString("There are no skills.\n")
	}
	for _, skill := range f.Skills {
		fmt.Fprintf(&text, "- %s: %s\n", skill.Name, skill.Description)
	}
	if f.NextCursor != "" {
		fmt.Fprintf(&text, "%d of %d. For more, call findSkills with \"cursor\": %q.\n", len(f.Skills), f.Total, f.NextCursor)
	}
	return text.String()
}

// encodeOffset makes a cursor of a position in a ranked list. Between two
// pages the catalog may change; then a skill may be seen twice or not, which
// a search can bear.
func encodeOffset(offset int) string {
	return base64.RawURLEncoding.EncodeToString([]byte("o" + strconv.Itoa(offset)))
}

func decodeOffset(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	plain, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && len(plain) > 1 && plain[0] == 'o' {
		if offset, err := strconv.Atoi(string(plain[1:])); err == nil && offset >= 0 {
			return offset, nil
		}
	}
	return 0, failure.New(failure.InvalidCursor, "Call findSkills without a cursor to start again.", "that cursor is none of this server's")
}
