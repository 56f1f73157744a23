package execution

import (
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
)

// Program is one to run: exactly one of Script, Program, Command and Tool of a
// skill, or a Command of none.
type Program struct {
	Skill     string          `json:"name"`
	Script    string          `json:"script"`
	Program   string          `json:"program"`
	Args      []string        `json:"args"`
	Command   string          `json:"command"`
	Tool      string          `json:"tool"`
	Input     json.RawMessage `json:"input"`
	Stdin     *string         `json:"stdin"`
	Cwd       string          `json:"cwd"`
	Workspace string          `json:"workspace"`
	TimeoutMs int             `json:"timeoutMs"`
	// Untimed says that the caller has no TimeoutMs to give.
	Untimed bool `json:"-"`
	// Why is for the log alone.
	Why string `json:"-"`
}

// Values of [Program.Cwd] for programs that start in the user's project, and in the
// skill.
const (
	inProject = "project"
	inSkill   = "skill"
)

// check checks what a schema without root-level alternatives cannot say.
func (p Program) check() error {
	given := 0
	for _, value := range []string{p.Script, p.Program, p.Command, p.Tool} {
		if value != "" {
			given++
		}
	}
	const hint = "Give `script` or `program` with `args`, or `command`, or `tool` with `input`."
	switch {
	case given != 1:
		return failure.New(failure.InvalidArguments, hint, "exactly one of `script`, `program`, `command` and `tool` is needed, %d were given", given)
	case p.Args != nil && p.Script == "" && p.Program == "":
		return failure.New(failure.InvalidArguments, hint, "`args` goes with `script` and `program` only")
	case p.Input != nil && p.Tool == "":
		return failure.New(failure.InvalidArguments, hint, "`input` goes with `tool` only")
	case p.Stdin != nil && p.Tool != "":
		return failure.New(failure.InvalidArguments, hint, "a `tool` gets its `input` on standard input, so `stdin` cannot be given")
	}
	return nil
}

// plan fills in what to run and what to ask the policy.
func (run *prepared) plan(p Program) error {
	if err := p.check(); err != nil {
		return err
	}
	run.spec = sandbox.Spec{
		InSkill: p.Cwd == inSkill, InProject: p.Cwd == inProject,
		Limits: sandbox.Limits{Timeout: time.Duration(p.TimeoutMs) * time.Millisecond},
	}
	if p.Stdin != nil {
		run.spec.Stdin = []byte(*p.Stdin)
	}
	switch {
	case p.Script != "":
		return run.planScript(p)
	case p.Tool != "":
		return run.planTool(p)
	case p.Program != "":
		run.spec.Argv = append([]string{p.Program}, p.Args...)
		run.request = policy.Request{Op: policy.OpProgram, Argv: run.spec.Argv}
		return checkArgv(run.spec.Argv)
	}
	run.spec.Shell = p.Command
	run.request = policy.Request{Op: policy.OpShell, Command: p.Command}
	return nil
}

func (run *prepared) planScript(p Program) (err error) {
	if run.spec.Script, err = contained.Clean(p.Script); err != nil {
		return err
	}
	run.spec.Args = p.Args
	run.request = policy.Request{Op: policy.OpScript, Argv: append([]string{run.spec.Script}, p.Args...)}
	return checkArgv(p.Args)
}

func (run *prepared) planTool(p Program) (err error) {
	input := p.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	if !run.skill.HasTools {
		return failure.New(failure.ToolNotFound, "Use `script` and `args`, or `command`.", "skill %q has no tools.json", run.skill.Name)
	}
	if run.tools, err = readTools(run.skill); err != nil {
		return err
	}
	tool, err := findTool(run.skill, run.tools, p.Tool)
	if err != nil {
		return err
	}
	if err := checkInput(run.skill, tool, input); err != nil {
		return err
	}
	argv, err := toolArgv(tool, input)
	if err != nil {
		return err
	}
	run.spec.Stdin = input
	// Nobody but its author knows how long the tool may take.
	if limit := time.Duration(tool.TimeoutMs) * time.Millisecond; limit > 0 && (run.spec.Limits.Timeout == 0 || limit < run.spec.Limits.Timeout) {
		run.spec.Limits.Timeout, run.longest = limit, true
	}
	if tool.Cwd != "" {
		run.spec.InSkill, run.spec.InProject = tool.Cwd == inSkill, false
	}
	if strings.Contains(argv[0], "/") {
		run.spec.Script, run.spec.Args = path.Clean(argv[0]), argv[1:]
	} else {
		run.spec.Argv = argv
	}
	run.request = policy.Request{Op: policy.OpTool, Tool: tool.Name, Argv: argv}
	return checkArgv(argv)
}

// readTools returns a skill's tools.json as it is.
func readTools(skill *catalog.Skill) ([]byte, error) {
	dir, err := skills.Open(skill)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return skills.ReadToolsFile(dir)
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
