package tools

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/activation"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
)

type activateArguments struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

func activate(writer activation.Writer) Tool {
	definition := define("activate", reads, "Activate a skill",
		"Load a skill's instructions. Call this BEFORE doing a task that a skill covers, then follow what it says. Gives the instructions, the skill's files, its scripts and tools, and what it may do. Use findSkills to learn which skills there are.",
		500_000, // the instructions and what is around them
		mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(256),
			mcp.Description("The skill's name, exactly as findSkills or the server's instructions give it.")),
		mcp.WithString("arguments", mcp.MaxLength(100_000),
			mcp.Description("What the user said for this skill, in their words; put where the instructions say $ARGUMENTS.")),
	)
	return newTool(definition, func(ctx context.Context, arguments activateArguments) (*mcp.CallToolResult, error) {
		skill, err := writer.Skills.Find(ctx, arguments.Name)
		if err != nil {
			return nil, err
		}
		if err := writer.Skills.PermitRead(ctx, skill, skill.Entry); err != nil {
			return nil, err
		}
		activated, err := writer.Activate(ctx, skill, arguments.Arguments)
		if err != nil {
			return nil, err
		}
		writer.Remember(skill)
		writer.Skills.Log.Info("skill activated", "skill", skill.Name)
		// Content only: hosts that see structured content show the model nothing
		// else.
		result := mcp.NewToolResultText(activated.Text)
		result.Meta = activated.Meta(cards.Wanted(ctx))
		return result, nil
	}).shownOn(cards.Activate)
}
