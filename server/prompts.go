package server

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
)

// As with resources, every prompt is led to one that the library knows;
// promptNameKey holds the name that was asked for.
const (
	internalPromptName = "skills-mcp:prompt"
	promptNameKey      = "skills-mcp/name"
)

// promptNote is for Claude Code, which fills an argument with one word only
// and tells the model all of them beside it.
const promptNote = "\n\nWhere a <command-args> element comes with this message, it holds all that the user said."

func (s *Server) registerPrompts() {
	s.mcp.AddPrompt(mcp.NewPrompt(internalPromptName), s.getPrompt)
}

func (s *Server) hookPrompts(hooks *mcpserver.Hooks) {
	hooks.AddBeforeGetPrompt(func(_ context.Context, _ any, request *mcp.GetPromptRequest) {
		arguments := map[string]string{promptNameKey: request.Params.Name}
		if given, ok := request.Params.Arguments["arguments"]; ok {
			arguments["arguments"] = given
		}
		request.Params.Name, request.Params.Arguments = internalPromptName, arguments
	})
}

// skillPrompt is a skill as a slash command.
func skillPrompt(skill *catalog.Skill) mcp.Prompt {
	return mcp.NewPrompt(skill.Name,
		mcp.WithPromptDescription(display.Line(skill.Description)),
		mcp.WithArgument("arguments", mcp.ArgumentDescription("What to do, in your own words.")))
}

// getPrompt gives a skill's activation as a message of the user.
func (s *Server) getPrompt(ctx context.Context, request mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	skill, err := s.skills.Find(ctx, request.Params.Arguments[promptNameKey])
	var text string
	if err == nil {
		text, err = s.activation.Text(ctx, skill, request.Params.Arguments["arguments"])
	}
	if err != nil {
		f := failure.Of(err)
		s.logFailure("prompts/get", f)
		router.Fail(ctx, f)
		return nil, errors.New(f.Error())
	}
	return mcp.NewGetPromptResult(display.Line(skill.Description), []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text+promptNote)),
	}), nil
}
