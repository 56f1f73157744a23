package server

import (
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// maxEndedSessions bounds how many ended sessions are remembered, the latest
// first. One that is forgotten could be taken up again, with nothing left of
// its former state.
const maxEndedSessions = 4096

// sessionIDs gives out session ids as the library does, and remembers which
// sessions their clients have ended, for those have to be answered with 404
// from then on (MCP 2025-11-25, Transports, Session Management). Ids of
// sessions that it never gave out are fine otherwise, so that no client loses
// its session over a restart of the server.
type sessionIDs struct {
	mcpserver.StatelessGeneratingSessionIdManager

	mu     sync.Mutex
	ended  map[string]struct{}
	ring   []string // the keys of ended, in order of their end
	oldest int      // where in a full ring the oldest is
}

// Validate implements [mcpserver.SessionIdManager].
func (s *sessionIDs) Validate(id string) (terminated bool, err error) {
	if _, err := s.StatelessGeneratingSessionIdManager.Validate(id); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, terminated = s.ended[id]
	return terminated, nil
}

// Terminate implements [mcpserver.SessionIdManager]. What is no session id
// needs no remembering: it is refused in any case.
func (s *sessionIDs) Terminate(id string) (notAllowed bool, err error) {
	if terminated, err := s.Validate(id); !terminated && err == nil {
		s.remember(id)
	}
	return false, nil
}

// remember notes that a session has ended, in the place of the oldest one
// where there is no room.
func (s *sessionIDs) remember(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended == nil {
		s.ended = map[string]struct{}{}
	}
	if _, ok := s.ended[id]; ok {
		return
	}
	s.ended[id] = struct{}{}
	if len(s.ring) < maxEndedSessions {
		s.ring = append(s.ring, id)
		return
	}
	delete(s.ended, s.ring[s.oldest])
	s.ring[s.oldest] = id
	s.oldest = (s.oldest + 1) % maxEndedSessions
}

// guarded answers GET and DELETE for sessions that have ended or cannot be,
// which the library checks only for POST.
func (s *sessionIDs) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(mcpserver.HeaderKeySessionID)
		// From 2026-07-28 on there are no sessions, and the header means
		// nothing.
		modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
		if id == "" || modern || r.Method == http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		terminated, err := s.Validate(id)
		switch {
		case err != nil:
			http.Error(w, "Invalid session ID", http.StatusNotFound)
		case terminated:
			http.Error(w, "Session terminated", http.StatusNotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
