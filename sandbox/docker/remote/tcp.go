package remote

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/engine"
)

// connectTimeout bounds the making of a connection, TLS included.
const connectTimeout = 10 * time.Second

// keepAlive tells within a minute that the other machine is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}

// tcpRoute is how an engine that listens at a port is reached. Who is in
// between could read skills and write workspaces, so it must prove by its
// certificate who it is, unless there is no network in between.
func tcpRoute(at engine.Endpoint) (engine.Route, error) {
	address, err := parseTCP(at.Host)
	if err != nil {
		return engine.Route{}, fmt.Errorf("%w: %w", engine.ErrNoEngine, err)
	}
	settings := at.TLS
	settings.Asked = settings.Asked || address.Scheme == "https"
	dialer := &net.Dialer{Timeout: connectTimeout, KeepAliveConfig: keepAlive}
	if !settings.Asked || settings.Unverified {
		if !isLoopback(address.Hostname()) {
			return engine.Route{}, engine.ErrInsecure
		}
		dialer.Control = refuseElsewhere // whatever "localhost" means here
	}
	config, err := tlsConfig(settings)
	if err != nil {
		return engine.Route{}, fmt.Errorf("%w: certificates: %w", engine.ErrNoEngine, err)
	}
	target := net.JoinHostPort(address.Hostname(), portOf(address, config != nil))
	dial := func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", target) }
	if config != nil {
		config.ServerName = address.Hostname()
		secure := &tls.Dialer{NetDialer: dialer, Config: config}
		dial = func(ctx context.Context) (net.Conn, error) { return secure.DialContext(ctx, "tcp", target) }
	}
	return engine.Route{Dial: dial, Address: "tcp://" + target + address.EscapedPath()}, nil
}

// parseTCP takes addresses such as "tcp://host:2376/path".
func parseTCP(host string) (*url.URL, error) {
	address, err := url.Parse(host)
	if err != nil || address.User != nil || address.RawQuery != "" || address.ForceQuery || address.Fragment != "" {
		return nil, errors.New("its address is not of the form tcp://HOST[:PORT][/PATH]") // and may hold a password
	}
	if address.Hostname() == "" {
		address.Host = "localhost:" + address.Port()
	}
	return address, nil
}

// portOf returns the port of an address, or that which Docker's command takes.
func portOf(address *url.URL, tls bool) string {
	switch {
	case address.Port() != "":
		return address.Port()
	case address.Scheme == "http":
		return "80"
	case address.Scheme == "https":
		return "443"
	case tls:
		return "2376"
	}
	return "2375"
}

// isLoopback reports whether there is no network in between.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// refuseElsewhere keeps a dialer from connecting to anything but loopback.
func refuseElsewhere(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return engine.ErrInsecure
	}
	return nil
}
