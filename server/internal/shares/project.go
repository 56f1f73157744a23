package shares

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/request"
)

// rootsTimeout is how long a client may take to name its roots.
const rootsTimeout = 5 * time.Second

// found are the projects of sessions, for servers that are told of none.
type found struct {
	mu        sync.Mutex
	bySession map[string]*session
}

// session looks for its project once.
type session struct {
	once    sync.Once
	project []Directory
}

// Project returns the project of the caller, or nil.
func (a *Access) Project(ctx context.Context) *Directory {
	if a == nil {
		return nil
	}
	if all := a.project(ctx); len(all) > 0 {
		return &all[0]
	}
	return nil
}

// project returns the project of the caller, and what belongs to it.
func (a *Access) project(ctx context.Context) []Directory {
	if len(a.Options.Project) > 0 || a.Find == nil {
		return a.Options.Project
	}
	s := a.found.of(request.SessionID(ctx))
	ctx = context.WithoutCancel(ctx) // it is for the whole session
	s.once.Do(func() { s.project = a.Find(ctx, onlyRoot(ctx)) })
	return s.project
}

func (f *found) of(id string) *session {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bySession == nil {
		f.bySession = map[string]*session{}
	}
	if f.bySession[id] == nil {
		f.bySession[id] = &session{}
	}
	return f.bySession[id]
}

// ForgetSession drops what is known of a session that ended.
func (a *Access) ForgetSession(id string) {
	if a == nil {
		return
	}
	a.found.mu.Lock()
	defer a.found.mu.Unlock()
	delete(a.found.bySession, id)
}

// directories returns what the caller is lent, the project first if there is one.
func (a *Access) directories(ctx context.Context) (all []Directory, hasProject bool) {
	project := a.project(ctx)
	return slices.Concat(project, a.Others), len(project) > 0
}

// onlyRoot returns the URI of the one root of a client that names exactly one.
// Protocol version 2026-07-28 has no roots.
func onlyRoot(ctx context.Context) string {
	client := mcpserver.ClientSessionFromContext(ctx)
	informed, _ := client.(mcpserver.SessionWithClientInfo)
	rooted, ok := client.(mcpserver.SessionWithRoots)
	if !ok || informed == nil || informed.GetClientCapabilities().Roots == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, rootsTimeout)
	defer cancel()
	list, err := rooted.ListRoots(ctx, mcp.ListRootsRequest{})
	if err != nil || len(list.Roots) != 1 {
		return ""
	}
	return list.Roots[0].URI
}
