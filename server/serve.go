package server

import (
	"context"
	"io"
	"net"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/server/internal/stdio"
	"github.com/skills-mcp/skills-mcp/server/internal/web"
)

// expiryInterval is how often it is looked whether a workspace or a session has
// expired, so that subscribers hear of it though there is no call.
const expiryInterval = time.Minute

// ServeStdio serves one client, a JSON-RPC message a line, until the input
// ends or ctx does. At the end of input it answers what it has read, within a
// bound, so that requests can be piped in. Nothing but protocol messages is
// written to out. A Read of in that blocks at the end is left behind: it
// cannot be interrupted. The error is that of in or out; there is one too
// where the server is serving another stdio client.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	defer s.everyMinute(ctx, func() {})()
	return stdio.Serve(ctx, s.router, &s.subscriptions, in, s.opts.Redact.JSONWriter(out))
}

// Serve serves clients on a listener until ctx ends: streamable HTTP at
// /mcp, the legacy SSE pair at /sse and /message, /healthz and /metrics. Requests whose
// Host or Origin is neither loopback nor one of allowedHosts are refused, so
// that no web page can reach the server by DNS rebinding or across origins.
func (s *Server) Serve(ctx context.Context, listener net.Listener, allowedHosts []string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	clients := web.New(ctx, web.Options{
		Router: s.router, Metrics: s.measures.registry.Write, Subscriptions: &s.subscriptions, AllowedHosts: allowedHosts, Redact: s.opts.Redact, Ended: s.forget, Now: s.opts.Now, Log: s.log,
	})
	defer s.everyMinute(ctx, clients.Expire)()
	return clients.Serve(listener)
}

// everyMinute removes workspaces, and what expire does, when their time has
// come, until stop is called, which waits for it.
func (s *Server) everyMinute(ctx context.Context, expire func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		ticker := time.NewTicker(expiryInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if s.opts.Workspaces != nil {
					s.opts.Workspaces.Expire()
				}
				expire()
			}
		}
	})
	return func() {
		cancel()
		looking.Wait()
	}
}

// IsLoopback reports whether a host name or IP address is this machine's
// loopback.
func IsLoopback(host string) bool { return web.IsLoopback(host) }
