// Package execution runs programs: those of skills, and shell commands of no
// skill, each after the policy was asked and in a workspace.
//
// What is run is what was decided on: one version of a skill, whatever happens
// to its directory meanwhile.
package execution

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/resources/staging"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/project"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/access"
	"github.com/skills-mcp/skills-mcp/server/internal/advice"
	"github.com/skills-mcp/skills-mcp/server/internal/consent"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/library"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/requirement"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// Runner runs programs. It is safe for use by several goroutines.
type Runner struct {
	Skills     skills.Access
	Workspaces *workspace.Access
	Copies     *staging.Copies
	// Shares are the user's own directories; nil for none.
	Shares *shares.Access
	// Access is what skills are granted; nil for nothing.
	Access       *access.Access
	Requirements *requirement.Finder
	// Redact is what no output of a program holds: a skill may find what another
	// one has left. If nil, there is nothing.
	Redact *redact.Set
	// Library is what runs of no skill see of all skills; nil for nothing.
	Library *library.Access
	// Consent is what every run passes before it begins.
	Consent *consent.Door
	// Limits are those of the runs of a skill. If nil, the defaults.
	Limits LimitsOf
	// Sandbox runs programs, if any can be run.
	Sandbox sandbox.Backend
	// Changed is called with a workspace in which a program has run.
	Changed func(workspaces.Workspace)
	Log     *slog.Logger
}

// Run runs a program, and answers with what happened. Errors are ones for the
// client: the program was not started.
func (r *Runner) Run(ctx context.Context, p Program) (*mcp.CallToolResult, error) {
	p.Script = r.inSkill(p.Script)
	if err := r.chooseDir(ctx, &p); err != nil {
		return nil, err
	}
	prepared, err := r.prepare(ctx, p)
	if err != nil {
		return nil, err
	}
	defer prepared.release()
	approval, err := r.approve(ctx, prepared, p)
	if declined, ok := errors.AsType[*consent.Declined](err); ok {
		return r.declinedAnswer(declined, prepared.digest(), p.Workspace), nil
	}
	if err == nil {
		err = r.Access.AskBefore(ctx, prepared.granted(), prepared.program(p))
	}
	if err != nil {
		return nil, err
	}
	ws, err := r.Workspaces.Get(ctx, p.Workspace)
	if err != nil {
		return nil, err
	}
	spec := &prepared.spec
	spec.Workspace, spec.Private, spec.Caller = ws.Dir, ws.Private, request.Caller(ctx)
	progress, stop := unsilenced(progressFrom(ctx))
	defer stop()
	if spec.Progress = progress; spec.Progress != nil && prepared.skill != nil {
		// What is known to be missing is no reason to refuse a program: it may
		// find its modules elsewhere, or do without.
		known, _ := r.Requirements.Known(prepared.skill, prepared.copy)
		if missing := requirement.Text(requirement.OfRun(known, spec.Script, spec.Shell)); missing != "" {
			spec.Progress(missing)
		}
	}
	granted, err := r.Access.Open(ctx, prepared.granted(), prepared.program(p))
	if err != nil {
		return nil, err
	}
	defer granted.Close()
	granted.Specify(spec)
	if r.Redact != nil {
		spec.Redact = r.Redact.Writer
	}
	result, report, err := r.runIn(ctx, ws, prepared.author(), spec)
	granted.Close()
	if err != nil {
		return nil, err
	}
	r.Log.Info("program ended", "skill", p.Skill, "digest", prepared.digest(), "op", prepared.request.Op, "why", p.Why,
		"status", result.Status, "exit", result.ExitCode, "duration", result.Duration, "sandbox", result.Info.Backend, "tier", result.Info.Tier,
		"approval", approval.Outcome, "scope", approval.Scope)
	ended := ran{
		inProject: spec.InProject, digest: prepared.digest(), approval: approval, result: result, shared: report, access: granted.Report(), library: prepared.library.Report(),
		advice: r.advice(ctx, prepared, result, report.Hidden), longest: prepared.longest,
	}
	record(ctx, ws, ended)
	return answer(ws, ended), nil
}

// chooseDir has programs start in the project, where there is one.
func (r *Runner) chooseDir(ctx context.Context, p *Program) error {
	switch {
	case p.Cwd == "" && r.Shares.Project(ctx) != nil:
		p.Cwd = inProject
	case p.Cwd == inProject && r.Shares.Project(ctx) == nil:
		return failure.New(failure.InvalidArguments, "Leave `cwd` out, so that the program starts in the workspace, or tell the user to name the project with --project.",
			"there is no project to start in")
	}
	return nil
}

// runIn runs a program in a workspace, with the user's directories, of whose
// changes the report tells. Subscribers hear of those of the workspace before
// anything else is done about it.
func (r *Runner) runIn(ctx context.Context, ws workspaces.Workspace, by shares.Author, spec *sandbox.Spec) (sandbox.Result, shares.Report, error) {
	defer ws.Acquire()()
	defer r.Changed(ws)
	defer request.Idle(ctx)()
	lease, err := r.Shares.Lend(ctx, ws, by)
	if err != nil {
		return sandbox.Result{}, shares.Report{}, err
	}
	if fault := lease.ProjectFault(); fault != "" && spec.InProject {
		lease.Release()
		return sandbox.Result{}, shares.Report{}, failure.New(failure.SandboxSetup, inWorkspaceHint,
			"the program was to start in the user's project, and was not run: %s", strings.TrimSuffix(fault, "."))
	}
	lease.Specify(spec)
	result, err := r.Sandbox.Run(ctx, *spec)
	lease.Release()
	if err != nil {
		return sandbox.Result{}, shares.Report{}, err
	}
	// What a run changed is told also where the caller has gone meanwhile.
	return result, lease.Report(context.WithoutCancel(ctx), result.Shared), nil
}

// inWorkspaceHint says what to do where the project is not there for programs.
const inWorkspaceHint = `Tell the user that the project cannot be seen. Where the program needs nothing of it, give "cwd": "workspace".`

// advice says what may be behind a program's failure.
func (r *Runner) advice(ctx context.Context, p *prepared, result sandbox.Result, hidden []project.Masked) string {
	refused := advice.Refused(p.spec, result, hidden)
	if p.skill == nil || result.Status != sandbox.Exited || result.ExitCode == 0 {
		return refused
	}
	if stray := advice.Stray(p.spec); stray != "" {
		return stray
	}
	missing := requirement.OfRun(r.Requirements.OfCopy(ctx, p.skill, p.copy), p.spec.Script, p.spec.Shell)
	remedy := r.Requirements.Remedy(p.skill, p.copy, missing, advice.LacksPackage(result))
	return strings.Join(slices.DeleteFunc([]string{requirement.Text(missing), remedy, refused}, func(text string) bool { return text == "" }), " ")
}

// executable refuses where nothing can be run.
func (r *Runner) executable() error {
	if info := r.Sandbox.Info(); !info.Runs() {
		return failure.New(failure.SandboxUnavailable, "Do the task without running scripts, or tell the user.",
			"nothing can be run: %s", info.Unavailable)
	}
	return nil
}

// inSkill takes the skill's directory off a script's path: models tend to
// write it as programs see it.
func (r *Runner) inSkill(script string) string {
	script = strings.TrimPrefix(script, "$SKILL_DIR/")
	if info := r.Sandbox.Info(); info.Runs() {
		script = strings.TrimPrefix(script, info.SkillDir+"/")
	}
	return script
}
