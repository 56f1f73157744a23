package tools

import (
	"context"
	"sync"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
	"github.com/skills-mcp/skills-mcp/policy"
	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/execution"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/shares"
	"github.com/skills-mcp/skills-mcp/server/internal/skills"
	"github.com/skills-mcp/skills-mcp/server/internal/workspace"
)

// workspaceFiles are what the tools of the toolset workspace work on.
type workspaceFiles struct {
	skills     skills.Access
	workspaces *workspace.Access
	shares     *shares.Access
	runner     *execution.Runner
	// edits lets one call at a time write to workspaces, so that none undoes
	// what another did.
	edits sync.Mutex
}

// named returns the skill of a name, or nil where none is given.
func (f *workspaceFiles) named(ctx context.Context, name string) (*catalog.Skill, error) {
	if name == "" {
		return nil, nil
	}
	return f.skills.Find(ctx, name)
}

// shownWhy is a caller's reason as the log has it.
func shownWhy(description string) string { return truncate.After(display.Line(description), 200) }

// permitLanding returns what asks the policy about where a path lands that was
// asked about as it is written.
func (f *workspaceFiles) permitLanding(ctx context.Context, skill *catalog.Skill, path filePath, op policy.Op) func(shares.Place) error {
	return func(at shares.Place) error {
		if at.Inside == path.users.Inside {
			return nil
		}
		return f.skills.Permit(ctx, skill, requestFor(op, at))
	}
}

// target is a file to be written, for a skill or none.
type target struct {
	filePath
	op    policy.Op
	skill *catalog.Skill
}

// target reads the path of a file to be written, and asks the policy.
func (f *workspaceFiles) target(ctx context.Context, op policy.Op, path, handle, name string) (target, error) {
	skill, err := f.named(ctx, name)
	if err != nil {
		return target{}, err
	}
	written, err := f.path(ctx, path, handle)
	if err == nil {
		err = written.writable()
	}
	if err != nil {
		return target{}, err
	}
	return target{written, op, skill}, f.skills.Permit(ctx, skill, written.request(op))
}

// author is whose the changes are: of no version of the skill, whose programs did
// not make them.
func (t target) author() shares.Author {
	if t.skill == nil {
		return shares.Author{}
	}
	return shares.Author{Skill: t.skill.Name, Dir: t.skill.Place()}
}

// writeUsers changes a file of the user's in what is held for a workspace.
func (f *workspaceFiles) writeUsers(ctx context.Context, ws workspaces.Workspace, t target, limit int64, change func(old []byte) ([]byte, error)) (created bool, report shares.Report, err error) {
	defer ws.Acquire()()
	defer request.Idle(ctx)()
	created, report, err = f.shares.Edit(ctx, ws, *t.users, shares.Edit{
		Author: t.author(), Limit: limit, May: f.permitLanding(ctx, t.skill, t.filePath, t.op),
		Change: func(old []byte) ([]byte, error) {
			data, err := change(old)
			if err != nil {
				return nil, err
			}
			return data, f.roomFor(ws, len(data))
		},
	})
	if err != nil {
		return false, report, err
	}
	f.runner.Changed(ws)
	request.Note(ctx, func(r *audit.Record) {
		r.Workspace, r.Granted, r.Changes = ws.Handle, report.Granted(), report.Record()
	})
	return created, report, nil
}

// write writes to a workspace what adds so many bytes to it, one call at a
// time, and notifies subscribers.
func (f *workspaceFiles) write(ws workspaces.Workspace, adds int, do func(*contained.Dir) error) error {
	defer ws.Acquire()()
	f.edits.Lock()
	defer f.edits.Unlock()
	dir, err := contained.Open(ws.Dir, contained.Options{Untrusted: true})
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := f.roomFor(ws, adds); err != nil {
		return err
	}
	defer f.runner.Changed(ws)
	return do(dir)
}

// roomFor holds writes to the quota that programs have.
func (f *workspaceFiles) roomFor(ws workspaces.Workspace, adds int) error {
	if adds < 0 {
		return nil
	}
	limits := f.runner.Limits.Of("")
	most := workspaces.Usage{Bytes: limits.WorkspaceBytes - int64(adds), Files: limits.WorkspaceFiles - 1}
	used := ws.Usage(most, f.shares.UppersOf(ws.Handle)...)
	switch {
	case used.Bytes > most.Bytes || used.Files > most.Files:
		return failure.New(failure.WorkspaceFull, "Remove what is not needed, with a program in the same workspace, or apply or discard what is held.",
			"the workspace has no room: with what is held of the user's files it has at least %d files and %s", used.Files, display.Size(used.Bytes))
	case used.Missed > 0:
		return failure.New(failure.WorkspaceFull, "Remove them or make them readable, with a program in the same workspace.",
			"the workspace has no room: it holds directories that cannot be looked into, unreadable or more than 64 deep")
	}
	return nil
}
