package server

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
)

// maxSSECalls bounds the requests of one session that are not answered yet,
// or whose answers its client has not read.
const maxSSECalls = 1000

// sseEndpoint is the transport of 2024-11-05: a stream of events at /sse, and
// messages posted to /message. It is ours, since the library's has no way for
// the router, lets requests outlive their client, and opens its streams to
// every origin.
type sseEndpoint struct {
	server *Server
	bodies *bodies

	mu       sync.Mutex
	sessions map[string]*sseSession
}

// sseSession lasts as long as its stream.
type sseSession struct {
	ctx    context.Context
	client *client.Client
	stream *eventStream
	calls  sync.WaitGroup
	slots  chan struct{} // one for each call under way

	turn sync.Mutex // of the one that writes

	mu        sync.Mutex
	listeners listeners
}

// open serves a stream.
func (e *sseEndpoint) open(w http.ResponseWriter, r *http.Request) {
	_, release, ok := e.bodies.read(w, r)
	if !ok {
		return
	}
	release()
	subs := &e.server.subscriptions
	if !subs.Room() {
		http.Error(w, "Too many clients; try again later", http.StatusServiceUnavailable)
		return
	}
	id, due := rand.Text(), client.New()
	library := mcpserver.NewInProcessSession(id, nil)
	ctx := client.With(e.server.mcp.WithContext(r.Context(), library), due)
	session := &sseSession{ctx: ctx, client: due, stream: newEventStream(w), slots: make(chan struct{}, maxSSECalls)}
	if err := e.server.mcp.RegisterSession(ctx, library); err != nil {
		http.Error(w, "The session cannot be opened", http.StatusInternalServerError)
		return
	}
	defer e.server.mcp.UnregisterSession(ctx, id)
	subs.Join(due, func(string) bool { return library.Initialized() })
	defer subs.Leave(due)
	e.enter(id, session)
	tell := func(n client.Notice) error { return session.notify(n.Message(nil)) }
	session.stream.carry(ctx, due, tell, func() {
		defer e.leave(id, session)
		session.begin(id)
		session.tell(library.ClientNotifications())
	})
}

func (e *sseEndpoint) enter(id string, session *sseSession) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sessions == nil {
		e.sessions = map[string]*sseSession{}
	}
	e.sessions[id] = session
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

// tell writes what requests report meanwhile, until the client is gone.
func (s *sseSession) tell(notifications <-chan mcp.JSONRPCNotification) {
	for {
		select {
		case <-s.ctx.Done():
			return
		case notification := <-notifications:
			_ = s.notify(notification)
		}
	}
}

func (s *sseSession) notify(notification mcp.JSONRPCNotification) error {
	encoded, err := json.Marshal(notification)
	if err != nil {
		return err
	}
	var head jsonrpc.Message
	if err := json.Unmarshal(encoded, &head); err != nil {
		return err
	}
	return s.write(head, encoded)
}

// write writes what the client is to get of a message: all go the same way
// here, as on stdio.
func (s *sseSession) write(head jsonrpc.Message, message []byte) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	lines := s.listeners.lines(head, message)
	s.mu.Unlock()
	for _, line := range lines {
		s.hurry()
		if err := s.stream.send(bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
	return nil
}

// hurry bounds how long the client may take to read what is written next.
func (s *sseSession) hurry() {
	timeout := unreadTimeout
	if s.ctx.Err() != nil {
		timeout = streamEnd
	}
	_ = http.NewResponseController(s.stream.ResponseWriter).SetWriteDeadline(time.Now().Add(timeout))
}

// message takes one message, and answers a request on the session's stream.
func (e *sseEndpoint) message(w http.ResponseWriter, r *http.Request) {
	id := r.URL.Query().Get("sessionId")
	body, release, ok := e.bodies.read(w, r)
	if !ok {
		return
	}
	head, wrong := jsonrpc.Parse(body)
	if wrong != nil {
		release()
		refuse(w, http.StatusBadRequest, wrong.Code, wrong.Message)
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
	if head.Method == string(mcp.MethodNotificationCancelled) {
		session.client.Cancel(head.Params)
		done()
		return http.StatusAccepted
	}
	if !head.IsRequest() {
		session.calls.Go(func() {
			defer done()
			e.server.router.Forward(session.ctx, body)
		})
		return http.StatusAccepted
	}
	select {
	case session.slots <- struct{}{}:
	default:
		return http.StatusTooManyRequests
	}
	session.mu.Lock()
	session.listeners.take(head)
	session.mu.Unlock()
	ctx, end := session.client.Begin(session.ctx, head.ID)
	session.calls.Go(func() {
		defer func() { <-session.slots }()
		defer done()
		defer end()
		ctx, read := e.server.unread.begin(ctx, func() {})
		defer read()
		e.answer(ctx, session, head, body)
	})
	return http.StatusAccepted
}

// answer writes the answer to a request.
func (e *sseEndpoint) answer(ctx context.Context, session *sseSession, head jsonrpc.Message, body []byte) {
	response := e.server.router.Route(ctx, head, body)
	if err := request.Reserve(ctx, int64(len(response))/3); err != nil {
		response = router.Refusal(head, failure.Of(err))
	}
	_ = session.write(jsonrpc.Message{ID: head.ID}, response)
}
