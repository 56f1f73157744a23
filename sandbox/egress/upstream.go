package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
)

// maxReplyBytes is how long the answer of the user's proxy may be.
const maxReplyBytes = 64 << 10

// upstream knows which of the user's proxies is for which host.
type upstream struct {
	choose func(*url.URL) (*url.URL, error)
	roots  *x509.CertPool
}

// newUpstream returns nil where the environment names no proxy.
func newUpstream(environ []string, roots *x509.CertPool) (*upstream, error) {
	values := map[string]string{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if upper := strings.ToUpper(name); value != "" && (name == upper || values[upper] == "") {
			values[upper] = value
		}
	}
	config := httpproxy.Config{HTTPProxy: values["HTTP_PROXY"], HTTPSProxy: values["HTTPS_PROXY"], NoProxy: values["NO_PROXY"]}
	for name, value := range map[string]string{"HTTP_PROXY": config.HTTPProxy, "HTTPS_PROXY": config.HTTPSProxy} {
		if err := checkProxy(value); err != nil {
			return nil, fmt.Errorf("%s of the server's environment %w", name, err)
		}
	}
	if config.HTTPProxy == "" && config.HTTPSProxy == "" {
		return nil, nil
	}
	return &upstream{choose: config.ProxyFunc(), roots: roots}, nil
}

// checkProxy keeps what a URL says to itself: it may have a password.
func checkProxy(text string) error {
	if text == "" {
		return nil
	}
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Hostname() == "":
		return errors.New("is no URL of a proxy")
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return errors.New("is no proxy that can be used: only http:// and https:// are")
	}
	return nil
}

// hop returns the proxy for a host, or nil where there is none.
func (u *upstream) hop(wanted hosts.Rule) *hop {
	if u == nil {
		return nil
	}
	target := &url.URL{Scheme: string(wanted.Scheme()), Host: authorityOf(wanted)}
	via, err := u.choose(target)
	if err != nil || via == nil {
		return nil
	}
	return &hop{url: via, roots: u.roots}
}

// authorityOf returns host and port of a rule.
func authorityOf(rule hosts.Rule) string {
	return net.JoinHostPort(rule.Name(), fmt.Sprint(rule.Port()))
}

// hop is a proxy of the user. Its address is not judged: the user chose it.
type hop struct {
	url   *url.URL
	roots *x509.CertPool
}

// dial connects to the proxy itself.
func (h *hop) dial(ctx context.Context) (net.Conn, error) {
	port := h.url.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[h.url.Scheme]
	}
	var direct net.Dialer
	raw, err := direct.DialContext(ctx, "tcp", net.JoinHostPort(h.url.Hostname(), port))
	if err != nil || h.url.Scheme == "http" {
		return raw, err
	}
	secured := tls.Client(raw, &tls.Config{ServerName: h.url.Hostname(), RootCAs: h.roots})
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return secured, nil
}

// connect has the proxy connect to a host, by name.
func (h *hop) connect(ctx context.Context, wanted hosts.Rule) (net.Conn, error) {
	fail := func(detail string, err error) (net.Conn, error) {
		return nil, &refusal{host: wanted.Name(), port: wanted.Port(), reason: Unreachable, detail: detail, cause: err}
	}
	raw, err := h.dial(ctx)
	if err != nil {
		return fail("the proxy of this machine's user does not answer", err)
	}
	// The proxy may keep silent: the connection is closed when the time is over.
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	connected, status, err := h.request(raw, wanted)
	if err != nil {
		_ = raw.Close()
		return fail("the proxy of this machine's user does not answer as a proxy does", err)
	}
	if status != http.StatusOK {
		_ = raw.Close()
		return fail(fmt.Sprintf("the proxy of this machine's user answers %d", status), nil)
	}
	return connected, raw.SetDeadline(time.Time{})
}

func (h *hop) request(raw net.Conn, wanted hosts.Rule) (net.Conn, int, error) {
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: authorityOf(wanted)}, Host: authorityOf(wanted), Header: http.Header{}}
	if user := h.url.User; user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := request.Write(raw); err != nil {
		return nil, 0, err
	}
	buffered := bufio.NewReader(io.LimitReader(raw, maxReplyBytes))
	response, err := http.ReadResponse(buffered, request)
	if err != nil {
		return nil, 0, err
	}
	_ = response.Body.Close()
	return newConn(raw).within(buffered), response.StatusCode, nil
}
