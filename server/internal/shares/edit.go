package shares

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/sandbox/merged"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Edit is what is made of one file of the user's, by no program.
type Edit struct {
	// Author is who wants it.
	Author Author
	// Limit is how many bytes the file may have that is there; if zero, it is not
	// read.
	Limit int64
	// May is called with the place where the path lands. Its error is that of the
	// edit.
	May func(Place) error
	// Change returns the new bytes for those that there were, which are nil where
	// there was no file. Its error is that of the edit.
	Change func(old []byte) ([]byte, error)
}

// Edit changes a file in the change set of a workspace, as a run would: it is held,
// and applied at once where that needs no consent. It waits for runs of the
// workspace, and for applies, for no longer than [Options.Wait].
func (a *Access) Edit(ctx context.Context, ws workspaces.Workspace, at Place, edit Edit) (created bool, report Report, err error) {
	if at.Mode == Read {
		return false, Report{}, failure.New(failure.PermissionDenied, "Write to the workspace instead, such as /workspace/notes.md, or tell the user that the directory is only shown for reading.",
			"nothing can be changed in %s: it is shown for reading alone", display.Path(at.Path))
	}
	l := newLoan(at.Directory)
	lease := &Lease{access: a, project: at.Project, loans: []*loan{l}}
	defer lease.Release()
	wait, cancel := context.WithTimeout(ctx, a.wait())
	defer cancel()
	if err := a.lend(ctx, wait, l, targetIn(ws, at.Directory, a.projectOf(ctx, at.Directory), edit.Author), edit.Author); err != nil {
		return false, Report{}, a.notLent(ctx, wait, at, err)
	}
	created, err = a.write(ctx, l, at, edit)
	lease.Release()
	if err != nil {
		return false, Report{}, err
	}
	return created, lease.Report(context.WithoutCancel(ctx), []sandbox.Shared{{Path: at.Path, Access: sandbox.AccessReview}}), nil
}

func (a *Access) wait() time.Duration { return cmp.Or(a.Options.Wait, DefaultWait) }

// write writes to what is held of a directory.
func (a *Access) write(ctx context.Context, l *loan, at Place, edit Edit) (created bool, err error) {
	wait, cancel := context.WithTimeout(ctx, a.wait())
	defer cancel()
	created, err = merged.Write(wait, l.share, at.Inside, merged.Edit{
		Limit: edit.Limit, Change: edit.Change,
		Check: func(inside string, created bool) error {
			lands := at.to(inside)
			return cmp.Or(l.protects(lands, created), lands.hidden(l.hidden), edit.May(lands))
		},
	})
	switch {
	case err == nil:
		return created, nil
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
		return false, busy()
	}
	return false, a.pathFault(at, err)
}

// notLent says why a directory is not lent for an edit.
func (a *Access) notLent(ctx, wait context.Context, at Place, err error) error {
	if wait.Err() != nil && ctx.Err() == nil && (errors.Is(err, changes.ErrBusy) || errors.Is(err, context.DeadlineExceeded)) {
		return busy()
	}
	return a.unusable(ctx, at, err)
}

func busy() error {
	return failure.New(failure.ChangesBusy, "Try again when that has ended; nothing was written. An edit in another workspace does not wait.",
		"a program of this workspace, or an apply, works on the same directory")
}

// protects is the failure of a change that is never applied; nil for others.
func (l *loan) protects(at Place, created bool) error {
	change := changes.Change{Path: at.Inside, Kind: changes.Modified, Mode: 0o644}
	if created {
		change.Kind = changes.Added
	}
	reason := Judge(at.Rules(), l.set)(at.Inside, change)
	if reason == "" && len(at.Files) > 0 && !slices.Contains(at.Files, at.Inside) {
		reason = "is none of the files that are shared of its directory"
	}
	if reason == "" {
		return nil
	}
	return failure.New(failure.PermissionDenied, "Leave it as it is: no program and no tool changes it. Tell the user what they should change there, if they should.",
		"%s is protected: it %s", shownPath(at), reason)
}
