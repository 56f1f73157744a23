package server

import (
	"context"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/advice"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/requirement"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// maxTimeoutMs is the longest run a caller may ask for, in milliseconds.
const maxTimeoutMs = 600_000

type execArguments struct {
	Name      string          `json:"name"`
	Script    string          `json:"script"`
	Args      []string        `json:"args"`
	Command   string          `json:"command"`
	Tool      string          `json:"tool"`
	Input     json.RawMessage `json:"input"`
	Stdin     *string         `json:"stdin"`
	Cwd       string          `json:"cwd"`
	Workspace string          `json:"workspace"`
	TimeoutMs int             `json:"timeoutMs"`
}

func (s *Server) execTool() tool {
	definition := mcp.NewTool("exec",
		mcp.WithDescription("Run a program of a skill in the sandbox, when its instructions say so. Give exactly one of `script` (with `args`; no shell, the best choice), `command` (a shell line) or `tool` (with `input`). Programs start in a workspace that lasts between calls; files they write there come back as links. Gives exit code, stdout and stderr."),
		mcp.WithString("name", mcp.Required(), mcp.MinLength(1), mcp.MaxLength(256),
			mcp.Description("The skill's name.")),
		mcp.WithString("script", mcp.MinLength(1), mcp.MaxLength(4096),
			mcp.Description("A script of the skill, relative to its directory, such as scripts/report.py. The interpreter is chosen by its shebang or extension.")),
		mcp.WithArray("args", mcp.MaxItems(1000), mcp.WithStringItems(mcp.MaxLength(100_000)),
			mcp.Description("Arguments of `script`, one element each, without quoting.")),
		mcp.WithString("command", mcp.MinLength(1), mcp.MaxLength(16<<10),
			mcp.Description("A shell command. $SKILL_DIR is the skill's directory, $WORKSPACE the workspace.")),
		mcp.WithString("tool", mcp.MinLength(1), mcp.MaxLength(64),
			mcp.Description("A tool that activate listed for the skill.")),
		mcp.WithObject("input", mcp.AdditionalProperties(true),
			mcp.Description("Input of `tool`, as its schema says.")),
		mcp.WithString("stdin", mcp.MaxLength(4<<20),
			mcp.Description("Text for the program's standard input.")),
		mcp.WithString("cwd", mcp.Enum("workspace", "skill"),
			mcp.Description("Where the program starts: workspace (default) or the skill's directory.")),
		mcp.WithString("workspace", mcp.MinLength(1), mcp.MaxLength(128),
			mcp.Description("Handle of a workspace from an earlier exec, to go on with its files.")),
		mcp.WithInteger("timeoutMs", mcp.Min(1), mcp.Max(maxTimeoutMs),
			mcp.Description("Longest run in milliseconds; 60000 if absent.")),
		mcp.WithSchemaAdditionalProperties(false),
		mcp.WithRawOutputSchema(execOutputSchema),
		annotations("Run a skill's program", false, true, false, false),
		// Both streams at their longest, as JSON.
		alwaysLoad(map[string]any{"anthropic/maxResultSizeChars": 400_000}),
	)
	return tool{definition: definition, handle: s.exec}
}

func (s *Server) exec(ctx context.Context, raw json.RawMessage) (*mcp.CallToolResult, error) {
	arguments, err := decode[execArguments](raw)
	if err != nil {
		return nil, err
	}
	arguments.Script = s.inSkill(arguments.Script)
	run, err := s.stage(ctx, arguments)
	if err != nil {
		return nil, err
	}
	defer run.copy.Release()
	workspace, err := s.workspaces.Get(ctx, arguments.Workspace)
	if err != nil {
		return nil, err
	}
	s.tellMissing(ctx, run)
	run.spec.Workspace = workspace.Dir
	result, err := s.run(ctx, workspace, run.spec)
	if err != nil {
		return nil, err
	}
	s.log.Info("program ended", "skill", run.skill.Name, "digest", run.copy.Digest, "op", run.request.Op, "status", result.Status,
		"exit", result.ExitCode, "duration", result.Duration, "sandbox", result.Info.Backend, "tier", result.Info.Tier)
	return execAnswer(workspace, run.copy.Digest, result, s.advice(ctx, run, result)), nil
}

// run runs a program in a workspace, and tells the caller of its progress.
func (s *Server) run(ctx context.Context, workspace workspaces.Workspace, spec sandbox.Spec) (sandbox.Result, error) {
	defer workspace.Acquire()()
	defer s.updates.WorkspaceChanged(workspace)
	spec.Workspace, spec.Private, spec.Caller = workspace.Dir, workspace.Private, request.Caller(ctx)
	spec.Progress = progressFrom(ctx)
	defer request.Idle(ctx)()
	return s.opts.Sandbox.Run(ctx, spec)
}

// advice says what may be behind the failure of a skill's program.
func (s *Server) advice(ctx context.Context, run staged, result sandbox.Result) string {
	refused := advice.Refused(run.spec, result)
	if result.Status != sandbox.Exited || result.ExitCode == 0 {
		return refused
	}
	if stray := advice.Stray(run.spec); stray != "" {
		return stray
	}
	missing := requirement.OfRun(s.requirements.OfCopy(ctx, run.skill, run.copy), run.spec.Script, run.spec.Shell)
	return strings.TrimSpace(requirement.Text(missing) + " " + refused)
}

// tellMissing tells before a run, as progress, what is known to be missing. That
// is no reason to refuse it: a program may find its modules elsewhere, or do
// without.
func (s *Server) tellMissing(ctx context.Context, run staged) {
	report := progressFrom(ctx)
	known, _ := s.requirements.Known(run.copy.Digest)
	if missing := requirement.Text(requirement.OfRun(known, run.spec.Script, run.spec.Shell)); report != nil && missing != "" {
		report(missing)
	}
}

// executable refuses where nothing can be run.
func (s *Server) executable() error {
	if s.opts.Sandbox == nil {
		return failure.New(failure.SandboxUnavailable, "Do the task without running scripts, or tell the user.",
			"nothing can be run: %s", s.opts.Unavailable)
	}
	return nil
}

// inSkill takes the skill's directory off a script's path: models tend to
// write it as programs see it.
func (s *Server) inSkill(script string) string {
	script = strings.TrimPrefix(script, "$SKILL_DIR/")
	if s.opts.Sandbox != nil {
		script = strings.TrimPrefix(script, s.opts.Sandbox.Info().SkillDir+"/")
	}
	return script
}

// program turns arguments into what to run and what to ask the policy.
func program(skill *catalog.Skill, arguments execArguments) (sandbox.Spec, policy.Request, error) {
	spec := sandbox.Spec{
		InSkill: arguments.Cwd == "skill",
		Limits:  sandbox.Limits{Timeout: time.Duration(arguments.TimeoutMs) * time.Millisecond},
	}
	if arguments.Stdin != nil {
		spec.Stdin = []byte(*arguments.Stdin)
	}
	if err := oneProgram(arguments); err != nil {
		return spec, policy.Request{}, err
	}
	switch {
	case arguments.Script != "":
		return scriptProgram(spec, arguments)
	case arguments.Tool != "":
		return toolProgram(spec, skill, arguments)
	default:
		spec.Shell = arguments.Command
		return spec, policy.Request{Op: policy.OpShell, Command: arguments.Command}, nil
	}
}

// oneProgram checks what a schema without root-level alternatives cannot say.
func oneProgram(arguments execArguments) error {
	given := 0
	for _, value := range []string{arguments.Script, arguments.Command, arguments.Tool} {
		if value != "" {
			given++
		}
	}
	const hint = "Give `script` with `args`, or `command`, or `tool` with `input`."
	switch {
	case given != 1:
		return failure.New(failure.InvalidArguments, hint, "exactly one of `script`, `command` and `tool` is needed, %d were given", given)
	case arguments.Args != nil && arguments.Script == "":
		return failure.New(failure.InvalidArguments, hint, "`args` goes with `script` only")
	case arguments.Input != nil && arguments.Tool == "":
		return failure.New(failure.InvalidArguments, hint, "`input` goes with `tool` only")
	case arguments.Stdin != nil && arguments.Tool != "":
		return failure.New(failure.InvalidArguments, hint, "a `tool` gets its `input` on standard input, so `stdin` cannot be given")
	}
	return nil
}

func scriptProgram(spec sandbox.Spec, arguments execArguments) (sandbox.Spec, policy.Request, error) {
	script, err := contained.Clean(arguments.Script)
	if err != nil {
		return spec, policy.Request{}, err
	}
	if err := checkArgv(arguments.Args); err != nil {
		return spec, policy.Request{}, err
	}
	spec.Script, spec.Args = script, arguments.Args
	argv := append([]string{script}, arguments.Args...)
	return spec, policy.Request{Op: policy.OpScript, Argv: argv}, nil
}

// checkArgv refuses what no program can be given.
func checkArgv(argv []string) error {
	for _, arg := range argv {
		if strings.ContainsRune(arg, 0) {
			return failure.New(failure.InvalidArguments, "Leave the NUL out.", "an argument holds a NUL character")
		}
	}
	return nil
}

func toolProgram(spec sandbox.Spec, skill *catalog.Skill, arguments execArguments) (sandbox.Spec, policy.Request, error) {
	input := arguments.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	var argv []string
	var definition catalog.Tool
	err := skills.WithTree(skill, func(tree *contained.Dir) (err error) {
		definition, err = packTool(skill, tree, arguments.Tool, input)
		if err != nil {
			return err
		}
		if argv, err = toolArgv(definition, input); err != nil {
			return err
		}
		return checkArgv(argv)
	})
	if err != nil {
		return spec, policy.Request{}, err
	}
	spec.Stdin = input
	if spec.Limits.Timeout == 0 {
		spec.Limits.Timeout = time.Duration(definition.TimeoutMs) * time.Millisecond
	}
	if strings.Contains(argv[0], "/") {
		spec.Script, spec.Args = path.Clean(argv[0]), argv[1:]
	} else {
		spec.Argv = argv
	}
	return spec, policy.Request{Op: policy.OpTool, Tool: definition.Name, Argv: argv}, nil
}
