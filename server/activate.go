package server

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"
)

type activateArguments struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func (s *Server) activateTool() tool {
	definition := mcp.NewTool("activate",
		mcp.WithDescription("Load a skill's instructions. Call this BEFORE doing a task that a skill covers, then follow what it says. Gives the instructions, the skill's files, its scripts and tools, and what it may do. Use findSkills to learn which skills there are."),
		mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(256),
			mcp.Description("The skill's name, exactly as findSkills or the server's instructions give it.")),
		mcp.WithString("arguments", mcp.MaxLength(100_000),
			mcp.Description("What the user said for this skill, in their words; put where the instructions say $ARGUMENTS.")),
		mcp.WithSchemaAdditionalProperties(false),
		annotations("Activate a skill", true, false, true, false),
		alwaysLoad(map[string]any{"anthropic/maxResultSizeChars": 200_000}),
	)
	return tool{definition: definition, handle: s.activate}
}

func (s *Server) activate(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	arguments, err := decode[activateArguments](raw)
	if err != nil {
		return nil, err
	}
	skill, err := s.skills.Find(ctx, arguments.Name)
	if err != nil {
		return nil, err
	}
	text, err := s.activation.Text(ctx, skill, arguments.Arguments)
	if err != nil {
		return nil, err
	}
	s.log.Info("skill activated", "skill", skill.Name)
	// Content only: hosts that see structured content show the model nothing
	// else.
	return mcp.NewToolResultText(text), nil
}
