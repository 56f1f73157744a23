package shares

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/sandbox/merged"
	"github.com/skills-mcp/skills-mcp/server/internal/display"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// Opened is a file or directory of the user as programs see it.
type Opened struct {
	*merged.Opened
	release func() error
}

// Close ends the use of it.
func (o *Opened) Close() {
	o.Opened.Close()
	_ = o.release()
}

// OpenPlace opens what programs of a workspace see at a place; those of no
// workspace see what the user has. may is called with the place where the path
// lands, before anything is opened there.
func (a *Access) OpenPlace(ctx context.Context, at Place, workspace string, may func(Place) error) (*Opened, error) {
	l := newLoan(at.Directory)
	if set := a.usedIn(workspace, at.Path); set != nil && at.Mode != Read {
		l.share.Access, l.share.Changes = sandbox.AccessReview, set.Dir()
	}
	if err := a.look(ctx, l); err != nil {
		return nil, a.unusable(ctx, at, err)
	}
	opened, err := merged.Open(l.share, at.Inside, func(inside string) error {
		if err := at.to(inside).hidden(l.hidden); err != nil {
			return err
		}
		return may(at.to(inside))
	})
	if err != nil {
		_ = l.end() // nothing was written
		return nil, a.pathFault(at, err)
	}
	return &Opened{Opened: opened, release: l.end}, nil
}

// usedIn returns the change set of a workspace and a directory, or nil.
func (a *Access) usedIn(workspace, dir string) *changes.Set {
	a.mu.Lock()
	defer a.mu.Unlock()
	if used := a.sets[workspace][dir]; used != nil {
		return used.Set
	}
	return nil
}

// unusable says why a directory cannot be used at all.
func (a *Access) unusable(ctx context.Context, at Place, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.log.Warn("a directory cannot be used", "path", at.Path, "error", err)
	return failure.New(failure.ChangesUnusable, "Tell the user that it cannot be seen. Files of the workspace, such as /workspace/notes.md, can be used.",
		"the directory %s cannot be used: %s", display.Path(at.Path), sentence(err))
}

func shownPath(at Place) string { return display.Path(at.Shown()) }

// pathFault is an error about a path as clients see it.
func (a *Access) pathFault(at Place, err error) error {
	known := (*failure.Failure)(nil)
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, merged.ErrOutside):
		return contained.Refuse(contained.Escape, at.Shown(), "leads out of the directory, through a link or by itself")
	case errors.Is(err, fs.ErrNotExist):
		return contained.Refuse(contained.NotFound, at.Shown(), "does not exist")
	case errors.Is(err, merged.ErrSpecial):
		return contained.Refuse(contained.SpecialFile, at.Shown(), "is a device, a FIFO or a socket")
	case errors.Is(err, merged.ErrDirectory):
		return contained.Refuse(contained.IsDirectory, at.Shown(), "is a directory")
	case errors.Is(err, syscall.ENOTDIR):
		return contained.Refuse(contained.NotDirectory, at.Shown(), "takes a file for a directory")
	case errors.Is(err, syscall.ENAMETOOLONG):
		return contained.Refuse(contained.Invalid, at.Shown(), "is too long for a file name")
	case errors.Is(err, fs.ErrPermission):
		return failure.New(failure.PermissionDenied, "Write another file, or ask the user to change the permissions.",
			"the permissions of %s, or of what leads there, forbid it", shownPath(at))
	case errors.Is(err, merged.ErrTooLarge):
		refused := contained.Refuse(contained.TooLarge, at.Shown(), "is over the limit of an edit")
		refused.Hint = "Change it with a program, such as sed."
		return refused
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %w", changes.ErrFull, err)
	case errors.Is(err, merged.ErrNoChanges):
		a.log.Error("changes cannot be kept", "path", at.Path, "error", err)
		return failure.New(failure.ChangesUnusable, "Tell the user; the server's log says why.", "there is no place to keep what is changed in %s", display.Path(at.Path))
	}
	return err
}
