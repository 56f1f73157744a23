package server

import (
	"context"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/advice"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
)

type bashArguments struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	Workspace   string `json:"workspace"`
	Name        string `json:"name"`
}

func (s *Server) bashTool() tool {
	definition := mcp.NewTool("bash_tool",
		mcp.WithDescription("Run a bash command in the sandbox. It starts in the workspace, which lasts between calls. With `name` that skill's directory is there too, as $SKILL_DIR. Gives exit code, stdout and stderr."),
		mcp.WithString("command", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(16<<10),
			mcp.Description("The bash command to run.")),
		whyArgument,
		workspaceArgument,
		skillArgument,
		mcp.WithSchemaAdditionalProperties(false),
		mcp.WithRawOutputSchema(execOutputSchema),
		annotations("Run a command in the sandbox", false, true, false, false),
		alwaysLoad(map[string]any{"anthropic/maxResultSizeChars": 400_000}),
	)
	return tool{definition: definition, handle: s.bash}
}

// bash runs a command as exec does. For a skill it is exec's command.
func (s *Server) bash(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	arguments, err := decode[bashArguments](raw)
	if err != nil {
		return nil, err
	}
	why := truncate.After(display.Line(arguments.Description), 200)
	if arguments.Name != "" {
		s.log.Info("command for a skill", "tool", "bash_tool", "skill", arguments.Name, "why", why)
		given := map[string]string{"name": arguments.Name, "command": arguments.Command}
		if arguments.Workspace != "" {
			given["workspace"] = arguments.Workspace
		}
		raw, err := json.Marshal(given)
		if err != nil {
			return nil, err
		}
		return s.exec(ctx, raw)
	}
	if err := s.skills.Permit(nil, policy.Request{Op: policy.OpShell, Command: arguments.Command}); err != nil {
		return nil, err
	}
	if err := s.executable(); err != nil {
		return nil, err
	}
	workspace, err := s.workspaces.Get(ctx, arguments.Workspace)
	if err != nil {
		return nil, err
	}
	spec := sandbox.Spec{Shell: arguments.Command}
	result, err := s.run(ctx, workspace, spec)
	if err != nil {
		return nil, err
	}
	s.log.Info("program ended", "tool", "bash_tool", "status", result.Status, "exit", result.ExitCode,
		"duration", result.Duration, "sandbox", result.Info.Backend, "tier", result.Info.Tier, "why", why)
	return execAnswer(workspace, "", result, advice.Refused(spec, result)), nil
}
