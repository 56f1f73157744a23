package publish

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// promptNote is for Claude Code, which fills an argument with one word only
// and shows the model all of them beside it.
const promptNote = "\n\nWhere a <command-args> element comes with this message, it holds all that the user said."

// skillPrompt is a skill as a slash command.
func skillPrompt(skill *catalog.Skill) mcp.Prompt {
	return mcp.NewPrompt(skill.Name,
		mcp.WithPromptDescription(display.Line(skill.Description)),
		mcp.WithArgument("arguments", mcp.ArgumentDescription("What to do, in your own words.")))
}

// prompt returns a skill's activation as a message of the user.
func (p *Publisher) prompt(ctx context.Context, name, arguments string) (*mcp.GetPromptResult, error) {
	skill, err := p.Skills.Find(ctx, name)
	if err != nil {
		return nil, err
	}
	skills.Note(ctx, skill)
	activated, err := p.Activation.Activate(ctx, skill, arguments)
	if err != nil {
		return nil, err
	}
	p.Activation.Remember(skill)
	return mcp.NewGetPromptResult(display.Line(skill.Description), []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(activated.Text+promptNote)),
	}), nil
}
