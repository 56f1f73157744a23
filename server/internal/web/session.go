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
	// cancellation (MCP 2025-11-25, Transports), but nobody is there to take
	// the answer, or to come back, after a while.
	absence = 10 * time.Second
	// maxEndedSessions bounds how many ended sessions are remembered, the
	// latest first. One that is forgotten could be taken up again, with
	// nothing left of its former state.
	maxEndedSessions = 4096
)

// httpSession is a session over streamable HTTP before 2026-07-28.
type httpSession struct {
	id  string
	due *client.Client
	// ctx is that of what runs for the session.
	ctx    context.Context
	cancel context.CancelFunc
	// running are its requests and streams under way, present those of them
	// whose client is still connected.
	running, present int
	// absent cancels what runs, while nobody is present.
	absent *time.Timer
	// idle is its place among the idle ones, where nothing is running.
	idle  *list.Element
	since time.Time // since when it is idle
}

// httpSessions gives out session ids as the library does and knows what each
// session has under way. It remembers which ones have ended, for those are
// answered with 404 from then on (MCP 2025-11-25, Transports, Session
// Management). Ids of sessions that it never gave out are fine otherwise, so
// that no client loses its session over a restart of the server.
type httpSessions struct {
	mcpserver.StatelessGeneratingSessionIdManager

	ctx   context.Context // until the server stops
	now   func() time.Time
	subs  *client.Subscriptions
	forgo func(id string) // takes a session out of the library

	mu     sync.Mutex
	byID   map[string]*httpSession
	idle   list.List // of *httpSession, the longest idle one first
	ended  map[string]struct{}
	ring   []string // the keys of ended, in order of their end
	oldest int      // where in a full ring the oldest is
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

// Validate implements [mcpserver.SessionIdManager].
func (s *httpSessions) Validate(id string) (terminated bool, err error) {
	if _, err := s.StatelessGeneratingSessionIdManager.Validate(id); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, terminated = s.ended[id]
	return terminated, nil
}

// Terminate implements [mcpserver.SessionIdManager]; see end.
func (s *httpSessions) Terminate(string) (notAllowed bool, err error) { return false, nil }

// open makes a session; the caller holds the lock.
func (s *httpSessions) open(id string) *httpSession {
	session := &httpSession{id: id, due: client.New()}
	session.ctx, session.cancel = context.WithCancel(s.ctx)
	s.byID[id] = session
	s.subs.Join(session.due, func(string) bool { return true })
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
	ended, room := s.clear()
	s.mu.Unlock()
	s.forgoAll(ended)
	return room
}

// expire ends the sessions that have been idle for too long.
func (s *httpSessions) expire() {
	s.mu.Lock()
	ended := s.overdue()
	s.mu.Unlock()
	s.forgoAll(ended)
}

// end ends a session: what runs for it is canceled, and it is answered with
// 404 from now on.
func (s *httpSessions) end(id string) *httpRefusal {
	s.mu.Lock()
	no := s.check(id)
	if no == nil {
		s.close(id)
	}
	s.mu.Unlock()
	if no == nil {
		s.forgo(id)
	}
	return no
}

// check refuses what is no session; the caller holds the lock.
func (s *httpSessions) check(id string) *httpRefusal {
	if _, err := s.StatelessGeneratingSessionIdManager.Validate(id); err != nil {
		return &httpRefusal{http.StatusNotFound, "Invalid session ID"}
	}
	if _, over := s.ended[id]; over {
		return &httpRefusal{http.StatusNotFound, "Session terminated"}
	}
	return nil
}

// overdue closes the sessions that have been idle for too long, and returns
// their ids; the caller holds the lock.
func (s *httpSessions) overdue() (ended []string) {
	for {
		longest := s.idle.Front()
		if longest == nil || s.now().Sub(longest.Value.(*httpSession).since) < sessionIdle {
			return ended
		}
		ended = append(ended, s.close(longest.Value.(*httpSession).id))
	}
}

// clear closes sessions until there is room for one more; the caller holds
// the lock.
func (s *httpSessions) clear() (ended []string, room bool) {
	ended = s.overdue()
	if len(s.byID) < maxSessions {
		return ended, true
	}
	longest := s.idle.Front()
	if longest == nil {
		return ended, false
	}
	return append(ended, s.close(longest.Value.(*httpSession).id)), true
}

// close takes a session away; the caller holds the lock, and calls forgo
// without it.
func (s *httpSessions) close(id string) string {
	if session := s.byID[id]; session != nil {
		session.cancel()
		s.subs.Leave(session.due)
		if session.idle != nil {
			s.idle.Remove(session.idle)
		}
		if session.absent != nil {
			session.absent.Stop()
		}
		delete(s.byID, id)
	}
	s.remember(id)
	return id
}

func (s *httpSessions) forgoAll(ids []string) {
	for _, id := range ids {
		s.forgo(id)
	}
}

// remember notes that a session has ended, in the place of the oldest one
// where there is no room; the caller holds the lock.
func (s *httpSessions) remember(id string) {
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

// httpRefusal is an HTTP status and its reason.
type httpRefusal struct {
	status int
	reason string
}

// enter begins a request of a session, until leave is called. Otherwise it
// says why the request is refused.
func (s *httpSessions) enter(r *http.Request, id string) (session *httpSession, leave func(), no *httpRefusal) {
	s.mu.Lock()
	ended := s.overdue()
	session, no = s.byID[id], s.check(id)
	if no == nil && session == nil {
		more, room := s.clear()
		if ended = append(ended, more...); room {
			session = s.open(id)
		} else {
			no = &httpRefusal{http.StatusServiceUnavailable, "Too many sessions; try again later"}
		}
	}
	if no == nil {
		s.begin(session)
	}
	s.mu.Unlock()
	s.forgoAll(ended)
	if no != nil {
		return nil, nil, no
	}
	return session, s.while(r.Context(), session), nil
}

// begin notes a request of a session; the caller holds the lock.
func (s *httpSessions) begin(session *httpSession) {
	if session.idle != nil {
		s.idle.Remove(session.idle)
		session.idle = nil
	}
	if session.absent != nil {
		session.absent.Stop()
		session.absent = nil
	}
	session.running++
	session.present++
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
	if session.present > 0 || session.running == 0 || s.byID[session.id] != session {
		return
	}
	session.absent = time.AfterFunc(absence, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if session.present > 0 || session.running == 0 || s.byID[session.id] != session {
			return
		}
		session.cancel()
		session.ctx, session.cancel = context.WithCancel(s.ctx)
	})
}

// context returns that of what runs for a session from now on.
func (s *httpSessions) context(session *httpSession) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	return session.ctx
}
