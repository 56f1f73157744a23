package server

import (
	"bytes"
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
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
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
	web := &http.Server{
		Handler:           s.handler(allowedHosts),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		// Streams last until their request's context ends.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
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

func (s *Server) handler(allowedHosts []string) http.Handler {
	// Our own check of Host is stricter than the library's, and knows the
	// hosts that the operator allows.
	ids := &sessionIDs{}
	streamable := mcpserver.NewStreamableHTTPServer(s.mcp,
		mcpserver.WithSessionIdManager(ids),
		mcpserver.WithDisableLocalhostProtection(true),
		mcpserver.WithStreamableHTTPLogger(s.log))
	sse := mcpserver.NewSSEServer(s.mcp,
		mcpserver.WithSSEDisableLocalhostProtection(true),
		mcpserver.WithUseFullURLForMessageEndpoint(false))
	mux := http.NewServeMux()
	mux.Handle("/mcp", ids.guarded(s.routed(acknowledged(streamable))))
	mux.Handle("/sse", sse.SSEHandler())
	mux.Handle("/message", bounded(sse.MessageHandler()))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n")
	})
	return onlyFrom(allowedHosts, mux)
}

// onlyFrom refuses requests for other hosts and from other origins.
func onlyFrom(allowedHosts []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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

// bounded limits the body of a request.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := readBody(w, r); ok {
			next.ServeHTTP(w, r)
		}
	})
}

// readBody reads a body and puts it back for the next reader. It refuses what
// cannot be a message.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if r.Method != http.MethodPost {
		return nil, true
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessageBytes))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		refuse(w, http.StatusRequestEntityTooLarge, mcp.INVALID_REQUEST, "the message is longer than 16 MiB")
	case err != nil:
		refuse(w, http.StatusBadRequest, mcp.PARSE_ERROR, "the body cannot be read")
	case !utf8.Valid(body):
		refuse(w, http.StatusBadRequest, mcp.PARSE_ERROR, "the message is not UTF-8")
	default:
		setBody(r, body)
		return body, true
	}
	return nil, false
}

func setBody(r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
}

func refuse(w http.ResponseWriter, status, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(mcp.NewJSONRPCError(mcp.NewRequestId(nil), code, message, nil))
}
