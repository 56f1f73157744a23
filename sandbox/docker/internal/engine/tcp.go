package engine

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
)

// connectPatience bounds the making of a connection, TLS included.
const connectPatience = 10 * time.Second

// keepAlive tells within a minute that the other machine is gone.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}

// tcpRoute is how an engine that listens at a port is reached. Who is in
// between could read skills and write workspaces, so it must prove by its
// certificate who it is, unless nobody is in between.
func (p endpoint) tcpRoute() (route, error) {
	address, err := parseTCP(p.host)
	if err != nil {
		return route{}, fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	settings := p.tls
	settings.asked = settings.asked || address.Scheme == "https"
	dialer := &net.Dialer{Timeout: connectPatience, KeepAliveConfig: keepAlive}
	if !settings.asked || settings.unverified {
		if !isLoopback(address.Hostname()) {
			return route{}, ErrInsecure
		}
		dialer.Control = refuseElsewhere // whatever "localhost" means here
	}
	config, err := settings.config()
	if err != nil {
		return route{}, fmt.Errorf("%w: certificates: %w", ErrNoEngine, err)
	}
	at := net.JoinHostPort(address.Hostname(), portOf(address, config != nil))
	dial := func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", at) }
	if config != nil {
		config.ServerName = address.Hostname()
		secure := &tls.Dialer{NetDialer: dialer, Config: config}
		dial = func(ctx context.Context) (net.Conn, error) { return secure.DialContext(ctx, "tcp", at) }
	}
	return route{
		options:   connectBy(dial, "tcp://"+at+address.EscapedPath(), 0),
		elsewhere: true,
		patience:  dialPatience,
	}, nil
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

// portOf gives the port of an address, or that which Docker's command takes.
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

// isLoopback tells whether nobody is in between.
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
		return ErrInsecure
	}
	return nil
}
