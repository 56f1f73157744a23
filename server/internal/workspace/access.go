// Package workspace finds workspaces by their handles, the URIs of their files
// and the sessions that they belong to.
//
// Whoever knows a handle may use the workspace. What lies in it was made by
// programs of skills, and is trusted with nothing.
package workspace

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"github.com/skills-mcp/skills-mcp/resources/contained"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// Access is the way to the workspaces of one store. It remembers the default
// workspace of each session that lasts longer than one request: stdio, and
// HTTP before protocol version 2026-07-28. It is safe for use by several
// goroutines.
type Access struct {
	store *workspaces.Store

	mu        sync.Mutex
	bySession map[string]string // handles
}

// New returns the way to the workspaces of a store, which is nil where there
// are none: then only [Access.OpenURI] may be called.
func New(store *workspaces.Store) *Access {
	return &Access{store: store, bySession: map[string]string{}}
}

// Get returns the workspace of a handle, or the caller's default where it is
// empty: a new one where the session has none or it has expired. A call
// without a lasting session always gets a new one and has to name it from then
// on.
func (a *Access) Get(ctx context.Context, handle string) (workspaces.Workspace, error) {
	if handle != "" {
		return a.store.Get(handle)
	}
	if request.SessionID(ctx) == "" {
		return a.store.Create(request.Caller(ctx))
	}
	return a.GetShared(ctx)
}

// GetShared returns the workspace of the caller's session. Callers without a
// lasting session share one: no program of a skill runs there.
func (a *Access) GetShared(ctx context.Context) (workspaces.Workspace, error) {
	id := request.SessionID(ctx)
	a.mu.Lock()
	defer a.mu.Unlock()
	if ws, err := a.store.Get(a.bySession[id]); err == nil {
		return ws, nil
	}
	ws, err := a.store.Create(id)
	if err == nil {
		a.bySession[id] = ws.Handle
	}
	return ws, err
}

// GetUsed is [Access.Get] for what works on files that are there: where every
// request stands alone a new workspace would have nothing in it.
func (a *Access) GetUsed(ctx context.Context, handle string) (workspaces.Workspace, error) {
	if handle == "" && request.SessionID(ctx) == "" {
		return workspaces.Workspace{}, failure.New(failure.InvalidArguments, "Give the handle that create_file, bash_tool or exec gave as `workspace`.",
			"no `workspace` is given, and this connection has none of its own")
	}
	return a.Get(ctx, handle)
}

// Forget drops what is known of a session that ended.
func (a *Access) Forget(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.bySession, session)
}

// OpenURI opens the workspace of a URI and returns the path in it.
func (a *Access) OpenURI(uri string) (*contained.Dir, string, error) {
	handle, file, err := ParseURI(uri)
	if err != nil {
		return nil, "", err
	}
	if a.store == nil {
		return nil, "", workspaces.ErrUnknown
	}
	ws, err := a.store.Get(handle)
	if err != nil {
		return nil, "", err
	}
	return Open(ws, file)
}

// Open opens a workspace, or its saved outputs where the path is that
// of one, and returns the path in it. What lies in a workspace was made by
// programs of skills, so nothing of it is trusted.
func Open(ws workspaces.Workspace, file string) (*contained.Dir, string, error) {
	dir := ws.Dir
	if name, saved := strings.CutPrefix(file, sandbox.PrivateDir+"/"); saved {
		dir, file = filepath.Join(ws.Private, sandbox.SavedDir), name
	}
	opened, err := contained.Open(dir, contained.Options{Untrusted: true, Hidden: sandbox.PrivateDir})
	if err != nil {
		return nil, "", err
	}
	return opened, file, nil
}
