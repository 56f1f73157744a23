package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"strings"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// newServer returns what reads requests: those to the proxy itself, and those in
// tunnels that end here.
func (s *Session) newServer() *http.Server {
	return &http.Server{
		Handler:           http.HandlerFunc(s.serveRequest),
		ReadHeaderTimeout: firstTimeout,
		IdleTimeout:       keepTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: maxStreams},
		ErrorLog:          slog.NewLogLogger(s.proxy.options.Logger.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, carrierKey{}, carrierOf(c))
		},
		ConnState: func(c net.Conn, state http.ConnState) {
			if state == http.StateActive {
				carrierOf(c).begun.Add(1)
			}
		},
	}
}

type carrierKey struct{}

// carrierOf returns the connection that an accepted one goes over.
func carrierOf(c net.Conn) *conn {
	if secured, ok := c.(*tls.Conn); ok {
		c = secured.NetConn()
	}
	return c.(*conn)
}

// serveHTTP serves the requests on a connection until that is closed.
func (s *Session) serveHTTP(c net.Conn, carrier *conn) {
	_ = s.server.Serve(&oneConn{conn: c, carrier: carrier})
	secured, _ := c.(*tls.Conn)
	multiplexed := secured != nil && secured.ConnectionState().NegotiatedProtocol == "h2"
	if s.ctx.Err() == nil && !multiplexed && carrier.begun.Load() > carrier.served.Load() {
		// The library has answered what is no request.
		s.refuse(&refusal{host: carrier.target.Name(), port: carrier.target.Port(), reason: BadRequest}, "")
	}
}

// serveRequest has the library serve a request that is for what it came for.
func (s *Session) serveRequest(w http.ResponseWriter, r *http.Request) {
	carrier := r.Context().Value(carrierKey{}).(*conn)
	carrier.served.Add(1)
	answer := &answerWriter{ResponseWriter: w}
	if !s.begin() {
		panic(http.ErrAbortHandler)
	}
	defer s.running.Done()
	defer answer.closeTaken()
	if r.Method == http.MethodConnect && !carrier.inner {
		s.library.ServeHTTP(answer, r)
		return
	}
	exchange, refused := newExchange(carrier, r)
	if refused != nil {
		s.refuse(refused, "")
		refused.write(w)
		return
	}
	select {
	case s.inFlight <- struct{}{}:
		defer func() { <-s.inFlight }()
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
	s.library.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, exchange)))
	if exchange.broken {
		// Else what is not whole would look whole.
		panic(http.ErrAbortHandler)
	}
}

type exchangeKey struct{}

// exchange is one request and its response.
type exchange struct {
	scheme  hosts.Scheme
	host    string
	port    int
	via     *hop          // the user's proxy, where it forwards the request
	secrets []*heldSecret // whose values may be in it
	put     []string      // the names of those whose values are
	echoes  []pair        // other forms of them that are
	broken  bool          // the response ended before its end
}

// newExchange says what a request is for. In a tunnel that is the tunnel's target,
// and nothing else.
func newExchange(carrier *conn, r *http.Request) (*exchange, *refusal) {
	if carrier.inner {
		return newInnerExchange(carrier.target, r)
	}
	scheme := hosts.Scheme(strings.ToLower(r.URL.Scheme))
	if scheme != hosts.HTTP && scheme != hosts.HTTPS || r.URL.Host == "" {
		return nil, &refusal{host: r.URL.Hostname(), reason: BadRequest, detail: "this is a proxy: it takes requests for http:// and https:// URLs, CONNECT and SOCKS5"}
	}
	port, ok := portOf(r.URL.Port(), scheme)
	if !ok {
		return nil, &refusal{host: r.URL.Hostname(), reason: InvalidHost, detail: "it has a port that is no number from 1 to 65535"}
	}
	r.URL.User = nil
	return &exchange{scheme: scheme, host: r.URL.Hostname(), port: port}, nil
}

func newInnerExchange(target hosts.Rule, r *http.Request) (*exchange, *refusal) {
	host, digits, found := strings.Cut(r.Host, ":")
	port, ok := portOf(digits, target.Scheme())
	switch {
	case r.Method == http.MethodConnect:
		return nil, &refusal{host: target.Name(), port: target.Port(), reason: BadRequest, detail: "there is no connection through this one"}
	case !ok, found && digits == "", !sameName(host, target.Name()), port != target.Port():
		return nil, &refusal{host: target.Name(), port: target.Port(), reason: WrongName, detail: "the request names another host than the connection"}
	}
	r.URL.Scheme, r.URL.Host, r.URL.User = string(target.Scheme()), authorityOf(target), nil
	return &exchange{scheme: target.Scheme(), host: target.Name(), port: target.Port()}, nil
}

func portOf(digits string, scheme hosts.Scheme) (int, bool) {
	if digits == "" {
		return scheme.DefaultPort(), true
	}
	port := 0
	for _, digit := range []byte(digits) {
		if port = port*10 + int(digit-'0'); digit < '0' || digit > '9' || port > 65535 {
			return 0, false
		}
	}
	return port, port > 0 && digits[0] != '0'
}

// answerWriter is what the library writes a response to. A stream goes on as it
// comes, and a connection that the library takes over is closed after it.
type answerWriter struct {
	http.ResponseWriter
	taken net.Conn
}

func (a *answerWriter) Write(p []byte) (int, error) {
	n, err := a.ResponseWriter.Write(p)
	if a.Header().Get("Content-Length") == "" {
		a.Flush()
	}
	return n, err
}

func (a *answerWriter) Flush() { _ = http.NewResponseController(a.ResponseWriter).Flush() }

// Unwrap is for [http.ResponseController].
func (a *answerWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Hijack returns a connection with all that was received of it: the library drops
// what a program has sent ahead.
func (a *answerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, buffered, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	a.taken = c
	if carrier, ok := c.(*conn); ok {
		carrier.within(buffered.Reader)
		buffered.Reader.Reset(carrier)
	}
	return c, buffered, nil
}

func (a *answerWriter) closeTaken() {
	if a.taken != nil {
		_ = a.taken.Close()
	}
}
