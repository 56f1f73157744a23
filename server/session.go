package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"sync"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/sandbox/workspaces"
)

// sessions remembers the default workspace of each session that lasts longer
// than one request: stdio, and HTTP before protocol version 2026-07-28.
type sessions struct {
	mu         sync.Mutex
	workspaces map[string]string
}

// sessionID names the caller's lasting session, or is empty where every
// request stands alone.
func sessionID(ctx context.Context) string {
	if session := mcpserver.ClientSessionFromContext(ctx); session != nil {
		return session.SessionID()
	}
	return ""
}

type senderKey struct{}

// withSender notes who sent an HTTP request, as far as that is known: the
// address, and the credentials for what stands before the server.
func withSender(ctx context.Context, r *http.Request) context.Context {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	credentials := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	return context.WithValue(ctx, senderKey{}, fmt.Sprintf("%s %x", host, credentials))
}

// caller names who asks, for the shares of what all have together: the
// session, or the sender of a request that stands alone.
func caller(ctx context.Context) string {
	if id := sessionID(ctx); id != "" {
		return id
	}
	sender, _ := ctx.Value(senderKey{}).(string)
	return sender
}

// workspace gives the session's default workspace, a new one where it has
// none or it has expired. A call without a lasting session always gets a new
// one and has to name it from then on.
func (s *sessions) workspace(ctx context.Context, all *workspaces.Store) (workspaces.Workspace, error) {
	id := sessionID(ctx)
	if id == "" {
		return all.Create(caller(ctx))
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
