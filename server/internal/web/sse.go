package web

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
	"github.com/skills-mcp/skills-mcp/server/internal/stream"
)

// maxSSECalls bounds the requests of one session that are not answered yet,
// or whose answers its client has not read.
const maxSSECalls = 1000

// sseEndpoint is the transport of 2024-11-05: a stream of events at /sse, and
// messages posted to /message. It is ours, since the library's has no way for
// the router, lets requests outlive their client, and opens its streams to
// every origin.
type sseEndpoint struct {
	*shared

	mu       sync.Mutex
	sessions map[string]*sseSession
}

// sseSession lasts as long as its stream.
type sseSession struct {
	*stream.Session
	ctx    context.Context
	stream *eventStream
	calls  sync.WaitGroup
	slots  chan struct{} // one for each call under way
	turn   sync.Mutex    // of the one that writes
}

// open serves a stream.
func (e *sseEndpoint) open(w http.ResponseWriter, r *http.Request) {
	_, _, release, ok := readMessage(e.bodies, w, r)
	if !ok {
		return
	}
	release()
	if !e.Subscriptions.Room() {
		http.Error(w, "Too many clients; try again later", http.StatusServiceUnavailable)
		return
	}
	id := rand.Text()
	session := &sseSession{ctx: r.Context(), stream: newEventStream(w), slots: make(chan struct{}, maxSSECalls)}
	var err error
	if session.Session, err = stream.Open(r.Context(), e.Router, e.Subscriptions, id, session.write); err != nil {
		http.Error(w, "The session cannot be opened", http.StatusInternalServerError)
		return
	}
	defer session.Close()
	e.mu.Lock()
	e.sessions[id] = session
	e.mu.Unlock()
	defer session.stream.endWith(r.Context())()
	defer e.leave(id, session)
	session.begin(id)
	session.Run()
}

// leave takes no more messages, and waits for those that were taken.
func (e *sseEndpoint) leave(id string, session *sseSession) {
	e.mu.Lock()
	delete(e.sessions, id)
	e.mu.Unlock()
	session.calls.Wait()
}

// begin writes the first event, which says where messages are posted to.
func (s *sseSession) begin(id string) {
	header := s.stream.Header()
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache")
	header.Set("X-Accel-Buffering", "no")
	_, _ = fmt.Fprintf(s.stream, "event: endpoint\ndata: /message?sessionId=%s\n\n", id)
	s.stream.Flush()
}

func (s *sseSession) write(message []byte) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	timeout := unreadTimeout
	if s.ctx.Err() != nil {
		timeout = streamEnd
	}
	hurry(s.stream.ResponseWriter, timeout)
	return s.stream.send(message)
}

// message takes one message, and answers a request on the session's stream.
func (e *sseEndpoint) message(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("sessionId")
	head, body, release, ok := readMessage(e.bodies, w, r)
	if !ok {
		return
	}
	status := e.take(id, head, body, release)
	if status != http.StatusAccepted {
		release()
		refuse(w, status, mcp.INVALID_REQUEST, http.StatusText(status)+": no such session, or it has too many requests under way")
		return
	}
	w.WriteHeader(status)
}

// take begins to serve a message; done is called when it is served, unless
// it is refused.
func (e *sseEndpoint) take(id string, head jsonrpc.Message, body []byte, done func()) (status int) {
	e.mu.Lock()
	defer e.mu.Unlock() // so that leave waits for the call
	session := e.sessions[id]
	if session == nil {
		return http.StatusNotFound
	}
	if !head.IsRequest() {
		session.calls.Go(func() {
			defer done()
			session.Take(head, body)
		})
		return http.StatusAccepted
	}
	select {
	case session.slots <- struct{}{}:
	default:
		return http.StatusTooManyRequests
	}
	ctx, end := session.Begin(head)
	session.calls.Go(func() {
		defer func() { <-session.slots }()
		defer done()
		defer end()
		ctx, read := whileUnread(ctx, e.unread, func() {})
		defer read()
		session.answer(ctx, head, body)
	})
	return http.StatusAccepted
}

// answer writes the answer to a request.
func (s *sseSession) answer(ctx context.Context, head jsonrpc.Message, body []byte) {
	response := s.Answer(ctx, head, body)
	if err := request.Reserve(ctx, int64(len(response))/3); err != nil {
		response = router.Refusal(head, failure.Of(err))
	}
	_ = s.write(response)
}
