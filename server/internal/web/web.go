// Package web serves clients over HTTP: streamable HTTP at /mcp, the transport
// of 2024-11-05 at /sse and /message, /healthz, and /metrics. Who may connect is decided
// by Host and Origin alone; what connections, bodies and answers cost is
// bounded for all clients together.
package web

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/metrics"
	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/server/internal/client"
	"github.com/skills-mcp/skills-mcp/server/internal/jsonrpc"
	"github.com/skills-mcp/skills-mcp/server/internal/router"
)

// shutdownTimeout is how long answers under way may take at shutdown.
const shutdownTimeout = 5 * time.Second

// Options are what a server over HTTP is made of.
type Options struct {
	// Router, if set, is what serves MCP.
	Router *router.Router
	// Metrics, if set, writes what /metrics serves.
	Metrics       func(io.Writer) error
	Subscriptions *client.Subscriptions
	// AllowedHosts are hosts other than loopback that Host and Origin may name.
	AllowedHosts []string
	// Redact is what no answer may hold. If nil, there is nothing.
	Redact *redact.Set
	// Ended is called when a session ends: its id may be one that no client began,
	// which the library does not know.
	Ended func(session string)
	// Now is the clock by which idle sessions expire.
	Now func() time.Time
	Log *slog.Logger
}

// shared is what all endpoints have.
type shared struct {
	Options
	bodies, unread *budget
}

// Server serves clients over HTTP.
type Server struct {
	handler  http.Handler
	sessions *httpSessions
	ctx      context.Context
}

// New returns a server whose clients' requests end with ctx.
func New(ctx context.Context, opts Options) *Server {
	shared := &shared{Options: opts, bodies: newBudget(largeBodyBytes, largeBodyBytes),
		unread: newBudget(unreadBytes, unreadBytesOfOne)}
	mux := http.NewServeMux()
	if opts.Metrics != nil {
		mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", metrics.ContentType)
			_ = opts.Metrics(w) // who has gone reads no error
		})
	}
	s := &Server{handler: redacted(opts.Redact, onlyFrom(opts.AllowedHosts, mux)), ctx: ctx}
	if opts.Router == nil {
		return s
	}
	endpoint := newMCPEndpoint(ctx, shared)
	s.sessions = endpoint.sessions
	sse := &sseEndpoint{shared: shared, sessions: map[string]*sseSession{}}
	mux.Handle("/mcp", endpoint)
	mux.HandleFunc("GET /sse", sse.open)
	mux.HandleFunc("POST /message", sse.message)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n")
	})
	return s
}

// Expire ends sessions that have been idle for too long. It is to be called
// now and then.
func (s *Server) Expire() { s.sessions.expire() }

// Serve serves clients on a listener until the server's context ends.
func (s *Server) Serve(listener net.Listener) error {
	unused := &unusedConns{}
	web := &http.Server{
		Handler:           s.handler,
		ConnState:         unused.note,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		// Streams last until their request's context ends.
		BaseContext: func(net.Listener) context.Context { return s.ctx },
	}
	web.RegisterOnShutdown(unused.close)
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-s.ctx.Done():
	}
	bound, stop := context.WithTimeout(context.WithoutCancel(s.ctx), shutdownTimeout)
	defer stop()
	err := web.Shutdown(bound)
	if err != nil {
		err = errors.Join(err, web.Close())
	}
	<-served
	return err
}

// onlyFrom refuses requests for other hosts and from other origins.
func onlyFrom(allowedHosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody { // which is waited for where it is not read, too
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyStall))
		}
		if !allowedHost(r.Host, allowedHosts) {
			http.Error(w, "Forbidden: the Host header names neither loopback nor an allowed host", http.StatusForbidden)
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" && !allowedOrigin(origin, allowedHosts) {
			http.Error(w, "Forbidden: the Origin is neither loopback nor an allowed host", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func allowedOrigin(origin string, allowedHosts []string) bool {
	parsed, err := url.Parse(origin)
	return err == nil && (parsed.Scheme == "http" || parsed.Scheme == "https") && allowedHost(parsed.Host, allowedHosts)
}

// allowedHost takes a host with or without port.
func allowedHost(hostport string, allowedHosts []string) bool {
	host := hostport
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return IsLoopback(host) || slices.ContainsFunc(allowedHosts, func(allowed string) bool {
		return strings.EqualFold(allowed, host)
	})
}

// IsLoopback reports whether a host name or IP address is this machine's
// loopback.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(jsonrpc.Refusal(code, message), '\n'))
}
