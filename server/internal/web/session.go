package web

import (
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
)

const (
	// sessionIdle is how long a session is kept that has neither a request
	// under way nor a stream: as long as its workspace.
	sessionIdle = time.Hour
	// maxSessions bounds the sessions over streamable HTTP. For one more, the
	// longest idle one ends.
	maxSessions = 1000
	// absence is how long the client of a session may have no connection
	// before what runs for it is canceled. A connection that breaks is no
	// cancellation (MCP 2025-11-25, Transports), but the client is not there to take
	// the answer, or to come back, after a while.
	absence = 10 * time.Second
	// maxEndedSessions bounds how many ended sessions are remembered, the
	// latest first. One that is forgotten could be taken up again, with
	// nothing left of its former state.
	maxEndedSessions = 4096
)

// httpSession is a session over streamable HTTP before 2026-07-28.
type httpSession struct {
	*client.Client
	id string
	// ctx is that of what runs for the session.
	ctx    context.Context
	cancel context.CancelFunc
	// running are its requests and streams under way, present those of them
	// whose client is still connected.
	running, present int
	// absent cancels what runs, while the client is not present.
	absent *time.Timer
	// idle is its element among the idle ones, where nothing is running.
	idle  *list.Element
	since time.Time // since when it is idle
}

// httpSessions makes session ids as the library does and knows what each
// session has under way. It remembers which ones have ended, for those are
// answered with 404 from then on (MCP 2025-11-25, Transports, Session
// Management). Ids of sessions that it never made are fine otherwise, so
// that no client loses its session over a restart of the server.
type httpSessions struct {
	mcpserver.StatelessGeneratingSessionIdManager

	ctx   context.Context // until the server stops
	now   func() time.Time
	subs  *client.Subscriptions
	forgo func(id string) // takes a session out of the library

	mu       sync.Mutex
	byID     map[string]*httpSession
	idle     list.List // of *httpSession, the longest idle one first
	ended    map[string]struct{}
	endedIDs []string // the keys of ended, in order of their end
}

func newHTTPSessions(ctx context.Context, now func() time.Time, subs *client.Subscriptions) *httpSessions {
	return &httpSessions{ctx: ctx, now: now, subs: subs, byID: map[string]*httpSession{}, ended: map[string]struct{}{}}
}

// Generate implements [mcpserver.SessionIdManager].
func (s *httpSessions) Generate() string {
	id := s.StatelessGeneratingSessionIdManager.Generate()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest(s.open(id))
	return id
}

// open makes a session; the caller holds the lock.
func (s *httpSessions) open(id string) *httpSession {
	session := &httpSession{Client: client.New(), id: id}
	session.ctx, session.cancel = context.WithCancel(s.ctx)
	s.byID[id] = session
	s.subs.Join(session.Client, func(string) bool { return true })
	return session
}

// rest notes that a session is idle from now on; the caller holds the lock.
func (s *httpSessions) rest(session *httpSession) {
	session.since = s.now()
	session.idle = s.idle.PushBack(session)
}

// room makes room for one more session, and reports whether there is any.
func (s *httpSessions) room() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clear()
}

// expire ends the sessions that have been idle for too long.
func (s *httpSessions) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overdue()
}

// end ends a session: what runs for it is canceled, and it is answered with
// 404 from now on.
func (s *httpSessions) end(id string) *httpRefusal {
	s.mu.Lock()
	defer s.mu.Unlock()
	no := s.check(id)
	if no == nil {
		s.close(id)
	}
	return no
}

// check refuses what is no session; the caller holds the lock.
func (s *httpSessions) check(id string) *httpRefusal {
	if _, err := s.Validate(id); err != nil {
		return &httpRefusal{http.StatusNotFound, "Invalid session ID"}
	}
	if _, over := s.ended[id]; over {
		return &httpRefusal{http.StatusNotFound, "Session terminated"}
	}
	return nil
}

// longestIdle returns the session that has been idle for longest, or nil; the
// caller holds the lock.
func (s *httpSessions) longestIdle() *httpSession {
	if first := s.idle.Front(); first != nil {
		return first.Value.(*httpSession)
	}
	return nil
}

// overdue closes the sessions that have been idle for too long; the caller
// holds the lock.
func (s *httpSessions) overdue() {
	for idle := s.longestIdle(); idle != nil && s.now().Sub(idle.since) >= sessionIdle; idle = s.longestIdle() {
		s.close(idle.id)
	}
}

// clear closes sessions until there is room for one more, and reports whether
// there is; the caller holds the lock.
func (s *httpSessions) clear() bool {
	s.overdue()
	if len(s.byID) < maxSessions {
		return true
	}
	idle := s.longestIdle()
	if idle == nil {
		return false
	}
	s.close(idle.id)
	return true
}

// close ends a session, and remembers that it has ended in the place of the
// one that ended first where there is no room; the caller holds the lock.
func (s *httpSessions) close(id string) {
	if session := s.byID[id]; session != nil {
		session.cancel()
		s.subs.Leave(session.Client)
		s.wake(session)
		delete(s.byID, id)
	}
	s.forgo(id)
	s.ended[id] = struct{}{}
	if s.endedIDs = append(s.endedIDs, id); len(s.endedIDs) > maxEndedSessions {
		delete(s.ended, s.endedIDs[0])
		s.endedIDs = s.endedIDs[1:]
	}
}

// httpRefusal is an HTTP status and its reason.
type httpRefusal struct {
	status int
	reason string
}

// enter begins a request of a session, until leave is called. ctx is that of
// what runs for the session from now on. Otherwise no says why the request is
// refused.
func (s *httpSessions) enter(r *http.Request, id string) (session *httpSession, ctx context.Context, leave func(), no *httpRefusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overdue()
	if no := s.check(id); no != nil {
		return nil, nil, nil, no
	}
	if session = s.byID[id]; session == nil {
		if !s.clear() {
			return nil, nil, nil, &httpRefusal{http.StatusServiceUnavailable, "Too many sessions; try again later"}
		}
		session = s.open(id)
	}
	s.wake(session)
	session.running++
	session.present++
	return session, session.ctx, s.while(r.Context(), session), nil
}

// wake notes that a session is neither idle nor without its client; the caller
// holds the lock.
func (s *httpSessions) wake(session *httpSession) {
	if session.idle != nil {
		s.idle.Remove(session.idle)
		session.idle = nil
	}
	if session.absent != nil {
		session.absent.Stop()
		session.absent = nil
	}
}

// while follows a request to its end, and to that of its connection.
func (s *httpSessions) while(connection context.Context, session *httpSession) (leave func()) {
	connected := context.AfterFunc(connection, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.depart(session)
	})
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		session.running--
		if connected() {
			s.depart(session)
		}
		if session.running == 0 && s.byID[session.id] == session {
			s.rest(session)
		}
	}
}

// depart notes that the connection of a request is gone; the caller holds the
// lock.
func (s *httpSessions) depart(session *httpSession) {
	session.present--
	if !s.deserted(session) {
		return
	}
	session.absent = time.AfterFunc(absence, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.deserted(session) {
			session.cancel()
			session.ctx, session.cancel = context.WithCancel(s.ctx)
		}
	})
}

// deserted reports whether something runs for a session whose client has no
// connection; the caller holds the lock.
func (s *httpSessions) deserted(session *httpSession) bool {
	return session.present == 0 && session.running > 0 && s.byID[session.id] == session
}
