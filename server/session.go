package server

import (
	"context"
	"sync"

	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// sessions remembers the default workspace of each session that lasts longer
// than one request: stdio, and HTTP before protocol version 2026-07-28.
type sessions struct {
	mu         sync.Mutex
	workspaces map[string]string
}

// workspace gives the session's default workspace, a new one where it has
// none or it has expired. A call without a lasting session always gets a new
// one and has to name it from then on.
func (s *sessions) workspace(ctx context.Context, all *workspaces.Store) (workspaces.Workspace, error) {
	id := request.SessionID(ctx)
	if id == "" {
		return all.Create(request.Caller(ctx))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if workspace, err := all.Get(s.workspaces[id]); err == nil {
		return workspace, nil
	}
	workspace, err := all.Create(id)
	if err != nil {
		return workspaces.Workspace{}, err
	}
	if s.workspaces == nil {
		s.workspaces = map[string]string{}
	}
	s.workspaces[id] = workspace.Handle
	return workspace, nil
}

// drop forgets a session that ended.
func (s *sessions) drop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.workspaces, id)
}
