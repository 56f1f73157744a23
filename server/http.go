package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// shutdownTimeout is how long answers under way may take at shutdown.
const shutdownTimeout = 5 * time.Second

// Serve serves clients on a listener until ctx ends: streamable HTTP at
// /mcp, the legacy SSE pair at /sse and /message, and /healthz. Requests whose
// Host or Origin is neither loopback nor one of allowedHosts are refused, so
// that no web page can reach the server by DNS rebinding or across origins.
func (s *Server) Serve(ctx context.Context, listener net.Listener, allowedHosts []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer s.expireWorkspaces(ctx)()
	handler, expireSessions := s.handler(ctx, allowedHosts)
	defer everyMinute(ctx, expireSessions)()
	unused := &unusedConns{}
	web := &http.Server{
		Handler:           handler,
		ConnState:         unused.note,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		// Streams last until their request's context ends.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	web.RegisterOnShutdown(unused.close)
	served := make(chan error, 1)
	go func() { served <- web.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	bound, stop := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer stop()
	if err := web.Shutdown(bound); err != nil {
		err = errors.Join(err, web.Close())
		<-served
		return err
	}
	<-served
	return nil
}

// handler returns what serves until ctx ends, and what is to be called now and
// then for idle sessions.
func (s *Server) handler(ctx context.Context, allowedHosts []string) (handler http.Handler, expire func()) {
	bodies := &bodies{}
	endpoint := s.newMCPEndpoint(ctx, bodies)
	sse := &sseEndpoint{server: s, bodies: bodies}
	mux := http.NewServeMux()
	mux.Handle("/mcp", endpoint)
	mux.HandleFunc("GET /sse", sse.open)
	mux.HandleFunc("POST /message", sse.message)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n")
	})
	return onlyFrom(allowedHosts, mux), endpoint.sessions.expire
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

// IsLoopback tells whether a host name or IP address is this machine's
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
	_ = json.NewEncoder(w).Encode(mcp.NewJSONRPCError(mcp.NewRequestId(nil), code, message, nil))
}
