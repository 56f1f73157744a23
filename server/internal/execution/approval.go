package execution

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// statusDeclined is that of a run which the user did not allow.
const statusDeclined sandbox.Status = "declined"

// approvalInfo is what a user answered.
type approvalInfo struct {
	Answer consent.Outcome `json:"answer"`
	Scope  approval.Scope  `json:"scope,omitempty"`
	Rule   string          `json:"rule"`
	Notice string          `json:"notice,omitempty"`
}

func approvalOf(a consent.Answer) *approvalInfo {
	if a.Outcome == "" {
		return nil
	}
	return &approvalInfo{Answer: a.Outcome, Scope: a.Scope, Rule: a.Rule}
}

// declinedAnswer is that of a run that the user did not allow: nothing went
// wrong, and nothing has run.
func (r *Runner) declinedAnswer(declined *consent.Declined, digest, handle string) *mcp.CallToolResult {
	info := r.Sandbox.Info()
	out := output{
		Status: statusDeclined, SkillDigest: digest, Workspace: handle, Artifacts: []workspace.File{},
		Approval: approvalOf(declined.Answer),
		Sandbox:  sandboxInfo{info.Backend, info.Tier, info.Notice},
	}
	out.Approval.Notice = declined.Error()
	result := declined.ToolResult()
	result.StructuredContent = out
	return result
}

// approve asks the user where a run has to be allowed.
func (r *Runner) approve(ctx context.Context, run *prepared, p Program) (consent.Answer, error) {
	if !r.Consent.Needed(approval.Run, p.Skill) {
		return consent.Answer{}, nil
	}
	return r.Consent.Ask(ctx, r.question(run, p))
}

// question is what a user is asked before a run.
func (r *Runner) question(run *prepared, p Program) consent.Question {
	q := consent.Question{Kind: approval.Run, Detail: r.shownRun(run, p)}
	of := "."
	if run.skill != nil {
		q.Skill, q.Dir, q.Digest = run.skill.Name, run.skill.Place(), run.digest()
		of = " of the skill " + run.skill.Name + "."
	}
	info := r.Sandbox.Info()
	where := fmt.Sprintf("in the sandbox %s (tier %s)", info.Backend, info.Tier)
	switch {
	case p.Tool != "":
		q.Title, q.Grant = "Run the tool "+display.Path(p.Tool)+of, "tool "+p.Tool
		q.Covers = "this tool in this version of the skill, whatever its input, " + where
	case p.Script != "":
		q.Title, q.Grant = "Run "+display.Path(run.spec.Script)+of, "script "+run.spec.Script
		q.Covers = "this script in this version of the skill, whatever its arguments and input, " + where
	default:
		q.Title, q.Grant = "Run a shell command"+strings.Replace(of, "of", "for", 1), "shell "+grantedCommand(run.spec.Shell)
		q.Covers = "exactly this command, whatever its input, " + where
	}
	q.Grant = strings.Join([]string{info.Backend, info.Tier, q.Grant}, "\n")
	return q
}

// grantedCommand returns what stands for exactly this command among the answers
// that are kept, for months perhaps.
func grantedCommand(command string) string {
	const longest = 4 << 10
	if len(command) <= longest {
		return command
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(command)))
}

// shownRun shows where a run takes place and then all that it is given, which
// may be long.
func (r *Runner) shownRun(run *prepared, p Program) string {
	info := r.Sandbox.Info()
	var text strings.Builder
	fmt.Fprintf(&text, "sandbox: %s (tier %s): %s\n", info.Backend, info.Tier, info.Notice)
	start, workspace := "the workspace", p.Workspace
	if run.spec.InSkill {
		start = "the skill's directory"
	}
	if workspace == "" {
		workspace = "the session's, or a new one"
	}
	fmt.Fprintf(&text, "starts in: %s\nworkspace: %s\n", start, workspace)
	if run.spec.Script != "" {
		show(&text, "script", run.spec.Script)
	}
	if run.spec.Shell != "" {
		show(&text, "command", run.spec.Shell)
	}
	arguments := run.spec.Args
	if len(run.spec.Argv) > 0 {
		show(&text, "program", run.spec.Argv[0])
		arguments = run.spec.Argv[1:]
	}
	for i, argument := range arguments {
		show(&text, fmt.Sprintf("argument %d", i+1), argument)
	}
	if len(run.spec.Stdin) > 0 {
		show(&text, "standard input", string(run.spec.Stdin))
	}
	return text.String()
}

// show shows a value that may have several lines, none of which is to look like
// a name of ours.
func show(text *strings.Builder, name, value string) {
	if !strings.Contains(value, "\n") {
		fmt.Fprintf(text, "%s: %s\n", name, value)
		return
	}
	fmt.Fprintf(text, "%s:\n", name)
	for line := range strings.SplitSeq(value, "\n") {
		fmt.Fprintf(text, "| %s\n", line)
	}
}
