package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/elazarl/goproxy"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/internal/truncate"
)

// newLibrary returns the library with all that it does of itself taken away: it
// would let everything through, dial by itself, take the environment's proxy, sign
// with a key that everybody has, and print. Connections that it would carry or end
// it hands to the session.
func (s *Session) newLibrary() *goproxy.ProxyHttpServer {
	library := goproxy.NewProxyHttpServer()
	library.Logger = quiet{s.proxy.options.Logger}
	library.Tr = s.transport
	library.ConnectDial = nil
	library.ConnectDialWithReq = func(*http.Request, string, string) (net.Conn, error) { return nil, net.ErrClosed }
	library.CertStore = nil
	library.KeepAcceptEncoding = true
	library.NonproxyHandler = http.NotFoundHandler()
	library.OnRequest().HandleConnectFunc(func(string, *goproxy.ProxyCtx) (*goproxy.ConnectAction, string) {
		return &goproxy.ConnectAction{Action: goproxy.ConnectHijack, Hijack: s.serveConnect}, ""
	})
	library.OnRequest().DoFunc(s.filterRequest)
	library.OnResponse().DoFunc(s.filterResponse)
	return library
}

// quiet keeps the library from standard error.
type quiet struct{ logger *slog.Logger }

func (q quiet) Printf(format string, _ ...any) {
	q.logger.Debug("the proxy library has something to say", "text", strings.TrimSpace(format))
}

// newTransport returns what sends requests to servers, over connections of this
// session alone.
func (s *Session) newTransport() *http.Transport {
	return &http.Transport{
		Proxy:                  s.forwarder,
		DialContext:            s.dialForRequest,
		TLSClientConfig:        s.trust(),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           maxInFlight,
		MaxIdleConnsPerHost:    maxInFlight,
		IdleConnTimeout:        keepTimeout,
		TLSHandshakeTimeout:    firstTimeout,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: maxAnswerBytes,
	}
}

// serveConnect serves a CONNECT request, of which the library has taken over the
// connection. Nothing is decided yet.
func (s *Session) serveConnect(request *http.Request, client net.Conn, _ *goproxy.ProxyCtx) {
	program := client.(*conn)
	defer func() { _ = program.Close() }()
	reply := func(refused *refusal) {
		_ = program.SetWriteDeadline(time.Now().Add(firstTimeout))
		if refused != nil {
			refused.send(program)
			return
		}
		_, _ = program.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n"))
		_ = program.SetWriteDeadline(time.Time{})
	}
	host, digits, err := net.SplitHostPort(request.Host)
	port, ok := portOf(digits, hosts.HTTPS)
	if err != nil || digits == "" || !ok {
		refused := &refusal{host: request.Host, reason: InvalidHost, detail: "CONNECT takes a name and a port, as in api.example.com:443"}
		s.refuse(refused, "")
		reply(refused)
		return
	}
	s.tunnel(s.ctx, program, host, port, reply)
}

// filterRequest is called by the library with every request that it would send. It
// returns the answer to those that are refused.
func (s *Session) filterRequest(r *http.Request, library *goproxy.ProxyCtx) (*http.Request, *http.Response) {
	exchange, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok {
		return r, (&refusal{reason: BadRequest}).response(r)
	}
	library.UserData = exchange
	shown := shownRequest(r)
	granted, refused := s.judge(r.Context(), exchange.host, exchange.port, exchange.scheme)
	if refused == nil {
		exchange.secrets = s.secretsFor(granted[0])
		dropHops(r.Header)
		refused = s.putSecrets(r, granted[0], exchange)
	}
	if refused != nil {
		s.refuse(refused, shown)
		return r, refused.response(r)
	}
	if granted[0].Scheme() == hosts.HTTP {
		exchange.via = s.dialer.via(r.Context(), granted[0])
		r.Close = exchange.via != nil // a connection to it is for one host
	}
	s.allow(granted[0], shown)
	return s.countSecrets(r, exchange), nil
}

// maxShownRequest is how much of a path an [Event] has.
const maxShownRequest = 200

// shownRequest has no query, in which keys are often sent.
func shownRequest(r *http.Request) string {
	return truncate.After(r.Method+" "+r.URL.EscapedPath(), maxShownRequest)
}

// filterResponse is called by the library with every response, or without one
// where there is none.
func (s *Session) filterResponse(response *http.Response, library *goproxy.ProxyCtx) *http.Response {
	exchange, ok := library.UserData.(*exchange)
	if !ok {
		return response
	}
	if response == nil || response.StatusCode == http.StatusSwitchingProtocols && !isWebSocket(response.Header) {
		rule, _ := hosts.New(exchange.scheme, exchange.host, exchange.port)
		refused := s.failed(rule, library.Error)
		if _, unsent := errors.AsType[*refusal](library.Error); unsent {
			s.ledger.withdraw(rule.Name(), rule.Port())
		}
		if library.Req.Context().Err() == nil { // else the program has gone
			s.refuse(refused, shownRequest(library.Req))
		}
		return refused.response(library.Req)
	}
	dropHops(response.Header)
	if response.StatusCode != http.StatusSwitchingProtocols {
		hideSecrets(response, exchange)
		if response.ContentLength < 0 {
			response.Body = &watchedBody{ReadCloser: response.Body, exchange: exchange}
		}
	}
	return response
}

// hops are headers of one connection, not of what is sent over several.
var hops = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Transfer-Encoding", "Upgrade"}

// dropHops removes them, and those that Connection names, but for a WebSocket.
func dropHops(header http.Header) {
	upgrade := isWebSocket(header)
	for _, line := range header.Values("Connection") {
		for name := range strings.SplitSeq(line, ",") {
			if name = strings.TrimSpace(name); !upgrade || !strings.EqualFold(name, "upgrade") {
				header.Del(name)
			}
		}
	}
	protocol := header.Get("Upgrade")
	for _, name := range hops {
		header.Del(name)
	}
	if upgrade {
		header.Set("Connection", "Upgrade")
		header.Set("Upgrade", protocol)
	}
}

func isWebSocket(header http.Header) bool {
	return hasToken(header, "Connection", "upgrade") && strings.EqualFold(header.Get("Upgrade"), "websocket")
}

func hasToken(header http.Header, name, token string) bool {
	return slices.ContainsFunc(header.Values(name), func(line string) bool {
		return slices.ContainsFunc(strings.Split(line, ","), func(found string) bool {
			return strings.EqualFold(strings.TrimSpace(found), token)
		})
	})
}

// dialForRequest connects to the host of a request, which was judged, or to the
// user's proxy for it.
func (s *Session) dialForRequest(ctx context.Context, _, address string) (net.Conn, error) {
	exchange, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil, fmt.Errorf("egress: a connection to %s for no request", address)
	}
	rule, err := hosts.New(exchange.scheme, exchange.host, exchange.port)
	if err != nil {
		return nil, err
	}
	raw, err := s.dialFor(ctx, exchange, rule, address)
	if err != nil {
		return nil, err
	}
	server := &metered{Conn: raw, session: s, account: s.ledger.at(rule.Name(), rule.Port())}
	if !s.keep(server) {
		_ = raw.Close()
		return nil, net.ErrClosed
	}
	return server, nil
}

func (s *Session) dialFor(ctx context.Context, exchange *exchange, rule hosts.Rule, address string) (net.Conn, error) {
	if exchange.via == nil {
		return s.dialer.dial(ctx, rule)
	}
	direct := net.Dialer{Timeout: dialTimeout}
	return direct.DialContext(ctx, "tcp", address)
}

// forwarder is the user's proxy for a request of plain HTTP, which is sent to it
// whole: many do not connect to port 80.
func (s *Session) forwarder(r *http.Request) (*url.URL, error) {
	if exchange, ok := r.Context().Value(exchangeKey{}).(*exchange); ok && exchange.via != nil {
		return exchange.via.url, nil
	}
	return nil, nil
}

// trust is how the proxy verifies servers to which it speaks TLS.
func (s *Session) trust() *tls.Config {
	return &tls.Config{RootCAs: s.proxy.options.RootCAs, MinVersion: tls.VersionTLS12}
}
