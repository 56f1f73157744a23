package tools

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/execution"
)

type bashArguments struct {
	Command     string `json:"command"`
	Description string `json:"description"`
	Cwd         string `json:"cwd"`
	Workspace   string `json:"workspace"`
	Name        string `json:"name"`
}

func bash(runner *execution.Runner) Tool {
	library, output := "", execution.OutputSchema
	if runner.Library != nil {
		library = " Without `name`, the skills that allow it are at " + sandbox.LibraryDir + "/NAME, read-only, each by its name."
		output = execution.LibrarySchema
	}
	definition := define("bash_tool", runs, "Run a command in the sandbox",
		"Run a bash command in the sandbox. It starts in the user's project, or where there is none in the workspace, which lasts between calls. With `name` that skill's directory is there too, as $SKILL_DIR. Gives exit code, stdout and stderr."+library,
		execAnswerChars,
		mcp.WithString("command", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(1<<20),
			mcp.Description("The bash command to run.")),
		whyArgument,
		mcp.WithString("cwd", mcp.Enum("project", "workspace"),
			mcp.Description("Where it starts: the user's project (default where there is one), or the workspace.")),
		workspaceArgument,
		forSkillArgument,
		mcp.WithRawOutputSchema(output),
	)
	return newTool(definition, func(ctx context.Context, arguments bashArguments) (*mcp.CallToolResult, error) {
		return runner.Run(ctx, execution.Program{
			Skill: arguments.Name, Command: arguments.Command, Cwd: arguments.Cwd, Workspace: arguments.Workspace, Why: shownWhy(arguments.Description), Untimed: true,
		})
	}).shownOn(cards.Run)
}
