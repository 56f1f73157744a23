package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/request"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
)

// mcpEndpoint is streamable HTTP: it stands in front of the router and the
// library, has every request last as long as its protocol version asks for, and
// carries the notifications of clients.
type mcpEndpoint struct {
	*shared
	sessions *httpSessions
	// next is the router, and behind it the library.
	next func(w http.ResponseWriter, r *http.Request, head jsonrpc.Message, body []byte)
}

func newMCPEndpoint(ctx context.Context, shared *shared) *mcpEndpoint {
	sessions := newHTTPSessions(ctx, shared.Now, shared.Subscriptions)
	// Our own check of Host is stricter than the library's, and knows the
	// hosts that the operator allows.
	library := mcpserver.NewStreamableHTTPServer(shared.Router.Library,
		mcpserver.WithSessionIdManager(sessions),
		mcpserver.WithDisableLocalhostProtection(true),
		mcpserver.WithStreamableHTTPLogger(shared.Log))
	sessions.forgo = func(id string) {
		library.Handle(discarded{}, &mcpserver.HTTPRequest{Method: http.MethodDelete, Context: ctx,
			Header: http.Header{mcpserver.HeaderKeySessionID: {id}}})
		shared.Ended(id)
	}
	return &mcpEndpoint{shared: shared, sessions: sessions, next: func(w http.ResponseWriter, r *http.Request, head jsonrpc.Message, body []byte) {
		shared.Router.RouteHTTP(library, w, r, head, body)
	}}
}

// discarded is an answer that is not read.
type discarded struct{}

func (discarded) Header() http.Header         { return http.Header{} }
func (discarded) WriteHeader(int)             {}
func (discarded) Write(p []byte) (int, error) { return len(p), nil }
func (discarded) Flush()                      {}
func (discarded) CanStream() bool             { return false }

func (e *mcpEndpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head, body, release, ok := readMessage(e.bodies, w, r)
	if !ok {
		return
	}
	defer release()
	ctx, done := whileUnread(r.Context(), e.unread, func() { hurry(w, unreadTimeout) })
	defer done()
	r = r.WithContext(request.WithSender(ctx, sender(r)))
	version, stated := r.Header.Get(mcp.HeaderProtocolVersion), head.ProtocolVersion()
	// From 2026-07-28 on there are no sessions.
	modern := mcp.IsModernProtocol(version) || mcp.IsModernProtocol(stated)
	id := r.Header.Get(mcpserver.HeaderKeySessionID)
	switch {
	case head.IsNotification() && unattributable(version, stated, id):
		// From 2026-07-28 on the end of a stream is what cancels its request;
		// a notification names a request by an id that other clients have
		// too, so it changes nothing. Some clients send it all the same, and
		// take a refusal for the end of the connection.
		w.WriteHeader(http.StatusAccepted)
	case modern && head.Method == string(mcp.MethodSubscriptionsListen):
		e.listen(w, r, head, body)
	case modern:
		e.next(w, r, head, body) // until its connection ends
	case head.Method == string(mcp.MethodInitialize) && !e.sessions.room():
		refuse(w, http.StatusServiceUnavailable, mcp.INTERNAL_ERROR, "too many sessions are in use; try again later")
	case id == "" && (r.Method == http.MethodGet || r.Method == http.MethodDelete):
		http.Error(w, "Bad Request: Mcp-Session-Id is missing", http.StatusBadRequest)
	case id == "" || head.Method == string(mcp.MethodInitialize):
		e.next(w, r, head, body) // which refuses all but a handshake
	default:
		e.inSession(w, r, id, head, body)
	}
}

// unattributable reports whether nothing says whose notification it is, whose
// protocol versions in its header and in its parameters are given. One that
// contradicts itself is left to the library to refuse.
func unattributable(header, params, session string) bool {
	if header != "" && (!mcp.IsValidProtocolVersion(header) || params != "" && header != params) {
		return false
	}
	return session == "" || mcp.IsModernProtocol(header) || mcp.IsModernProtocol(params)
}

// listen serves a request to listen, with what it asks for once it is
// acknowledged.
func (e *mcpEndpoint) listen(w http.ResponseWriter, r *http.Request, head jsonrpc.Message, body []byte) {
	due, ok := e.Subscriptions.Listen(head)
	if !ok {
		refuse(w, http.StatusServiceUnavailable, mcp.INTERNAL_ERROR, "too many clients listen; try again later")
		return
	}
	defer e.Subscriptions.Leave(due)
	stream := newEventStream(w)
	stream.listens = true
	stream.carry(r.Context(), due, head.ID, func() {
		e.next(stream, r.WithContext(client.With(r.Context(), due)), head, body)
	})
}

// inSession serves a request of a session. It lasts until it is answered or
// canceled, or the session ends; a stream also ends with its connection.
func (e *mcpEndpoint) inSession(w http.ResponseWriter, r *http.Request, id string, head jsonrpc.Message, body []byte) {
	if r.Method == http.MethodDelete {
		if no := e.sessions.end(id); no != nil {
			http.Error(w, no.reason, no.status)
		}
		return
	}
	session, lasting, leave, no := e.sessions.enter(r, id)
	if no != nil {
		http.Error(w, no.reason, no.status)
		return
	}
	defer leave()
	ctx := r.Context()
	if r.Method != http.MethodGet {
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithCancel(client.With(ctx, session.Client))
	defer cancel()
	defer context.AfterFunc(lasting, cancel)()
	if uri, plain := router.PlainRead(r, head); plain {
		e.Router.ReadHTTP(request.WithSession(ctx, id), w, head, uri)
		return
	}
	r = r.WithContext(ctx)
	switch {
	case r.Method == http.MethodGet:
		stream := newEventStream(w)
		stream.carry(ctx, session.Client, nil, func() { e.next(stream, r, head, body) })
		return
	case head.Method == string(mcp.MethodNotificationCancelled):
		session.Cancel(head.Params)
		body = []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	}
	e.next(w, r, head, body)
}

// sender names who sent an HTTP request, as far as that is known: the address,
// and the credentials for what stands before the server.
func sender(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	credentials := sha256.Sum256([]byte(r.Header.Get("Authorization")))
	return host + " " + hex.EncodeToString(credentials[:])
}
