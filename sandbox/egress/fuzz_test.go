package egress_test

import (
	"context"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// once is a listener of one connection.
type once struct {
	conn net.Conn
	next chan struct{}
}

func (o *once) Accept() (net.Conn, error) {
	if _, open := <-o.next; !open {
		return nil, net.ErrClosed
	}
	return o.conn, nil
}

func (o *once) Close() error   { return nil }
func (o *once) Addr() net.Addr { return &net.TCPAddr{} }

// noted is a resolver that knows nothing, and notes what it is asked.
type noted struct{ asked []string }

func (n *noted) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.asked = append(n.asked, host)
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// FuzzProgram: whatever a program sends, no name but one that is granted is looked
// up, and the session ends with its connection.
func FuzzProgram(f *testing.F) {
	for _, seed := range []string{
		"CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n" + string(clientHello("api.test")),
		"CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\n\r\n" + string(clientHello("evil.test")),
		"CONNECT evil.test:443 HTTP/1.1\r\n\r\n",
		"CONNECT key.test:443 HTTP/1.1\r\n\r\n" + string(clientHello("key.test")),
		"CONNECT plain.test:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"CONNECT plain.test:80 HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: plain.test\r\n\r\n",
		"CONNECT api.test:443.evil.test:443 HTTP/1.1\r\n\r\n",
		"CONNECT evil.test\x00.api.test:443 HTTP/1.1\r\n\r\n",
		"CONNECT [::ffff:127.0.0.1]:443 HTTP/1.1\r\n\r\n",
		"GET http://plain.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n",
		"GET http://plain.test@evil.test/ HTTP/1.1\r\nHost: plain.test\r\n\r\n",
		"GET http://0x7f.1/ HTTP/1.1\r\nHost: plain.test\r\n\r\n",
		"POST http://plain.test/ HTTP/1.1\r\nHost: plain.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://evil.test/ HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: plain.test\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		"\x05\x01\x00\x05\x01\x00\x03\x08api.test\x01\xbb" + string(clientHello("api.test")),
		"\x05\x01\x00\x05\x01\x00\x03\x09evil.test\x01\xbb",
		"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb",
		"\x05\x01\x00\x05\xf0\x00\x03\x09evil.test\x00\x00",
		"\x05\xff", "\x05\x00", "\x04\x01\x01\xbb\x7f\x00\x00\x01\x00",
		string(clientHello("api.test")), "", "\x00",
	} {
		f.Add([]byte(seed))
	}
	granted := []string{"api.test", "http://plain.test", "key.test"}
	var parsed []hosts.Rule
	for _, text := range granted {
		rule, err := hosts.Parse(text)
		if err != nil {
			f.Fatal(err)
		}
		parsed = append(parsed, rule)
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		resolver := &noted{}
		session, err := newProxy(t, egress.Options{Resolver: resolver}).Open(egress.Grant{
			Rules:   parsed,
			Secrets: []egress.Secret{{Name: "KEY", Placeholder: keyHolder, Hosts: parsed[2:], Value: value(key)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		program, server := net.Pipe()
		listener := &once{conn: server, next: make(chan struct{}, 1)}
		listener.next <- struct{}{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			session.Serve(listener)
		}()
		go func() { _, _ = io.Copy(io.Discard, program) }()
		_ = program.SetWriteDeadline(time.Now().Add(5 * time.Second))
		_, _ = program.Write(sent)
		_ = program.Close()
		close(listener.next)
		<-done
		for _, name := range resolver.asked {
			if !slices.Contains([]string{"api.test", "plain.test", "key.test"}, name) {
				t.Errorf("%q was looked up", name)
			}
		}
		for _, host := range session.Usage().Hosts {
			if host.Requests > 0 && !slices.Contains(granted, strings.TrimPrefix(host.Host, "http://")) && host.Host != "plain.test" {
				t.Errorf("%+v was let through", host)
			}
		}
	})
}
