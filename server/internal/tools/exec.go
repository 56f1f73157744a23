package tools

import (
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/cards"
	"github.com/skills-mcp/skills-mcp/server/internal/execution"
)

// execAnswerChars is for both streams at their longest, as JSON.
const execAnswerChars = 400_000

func exec(runner *execution.Runner) Tool {
	limits := runner.Limits.Of("")
	definition := define("exec", runs, "Run a skill's program",
		"Run a program of a skill in the sandbox, when its instructions say so. Give exactly one of `script` (with `args`; no shell, the best choice), `program` (with `args`; no shell), `command` (a shell line) or `tool` (with `input`). Programs start in the user's project, or where there is none in a workspace, which lasts between calls; files they write into that come back as links. Gives exit code, stdout and stderr.",
		execAnswerChars,
		skillNameArgument,
		mcp.WithString("script", mcp.MinLength(1), mcp.MaxLength(4096),
			mcp.Description("A script of the skill, relative to its directory, such as scripts/report.py. The interpreter is chosen by its shebang or extension.")),
		mcp.WithString("program", mcp.MinLength(1), mcp.MaxLength(256),
			mcp.Description("A program that is installed in the sandbox, by its name alone, such as jq. No shell: nothing in `args` is expanded.")),
		mcp.WithArray("args", mcp.MaxItems(1000), mcp.WithStringItems(mcp.MaxLength(100_000)),
			mcp.Description("Arguments of `script` or `program`, one element each, without quoting.")),
		mcp.WithString("command", mcp.MinLength(1), mcp.MaxLength(1<<20),
			mcp.Description("A shell command. $SKILL_DIR is the skill's directory, $WORKSPACE the workspace.")),
		mcp.WithString("tool", mcp.MinLength(1), mcp.MaxLength(64),
			mcp.Description("A tool that activate listed for the skill.")),
		mcp.WithObject("input", mcp.AdditionalProperties(true),
			mcp.Description("Input of `tool`, as its schema says.")),
		mcp.WithString("stdin", mcp.MaxLength(4<<20),
			mcp.Description("Text for the program's standard input.")),
		mcp.WithString("cwd", mcp.Enum("project", "workspace", "skill"),
			mcp.Description("Where the program starts: the user's project (default where there is one), the workspace, or the skill's directory.")),
		mcp.WithString("workspace", mcp.MinLength(1), mcp.MaxLength(128),
			mcp.Description("Handle of a workspace from an earlier exec, to go on with its files.")),
		mcp.WithInteger("timeoutMs", mcp.Min(1), mcp.Max(float64(limits.Longest.Milliseconds())),
			mcp.Description(fmt.Sprintf("Longest run in milliseconds; %d if absent.", limits.Timeout.Milliseconds()))),
		mcp.WithRawOutputSchema(execution.OutputSchema),
	)
	return newTool(definition, runner.Run).shownOn(cards.Run)
}
