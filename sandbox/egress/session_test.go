package egress_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/elazarl/goproxy"

	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// TestAuthority: what signs for hosts of secrets is this proxy's alone, signs for
// one name, and not the key that everybody has.
func TestAuthority(t *testing.T) {
	t.Parallel()
	s, origin := withSecrets(t, false, hello)
	target, _ := url.Parse(origin)
	c, err := connect(t, s.address, target.Host)
	if err != nil {
		t.Fatal(err)
	}
	secured := tls.Client(c, &tls.Config{ServerName: "api.test", InsecureSkipVerify: true})
	if err := secured.Handshake(); err != nil {
		t.Fatal(err)
	}
	leaf := secured.ConnectionState().PeerCertificates[0]
	block, _ := pem.Decode(s.proxy.CertificatePEM())
	root, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(root)
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: "api.test"}); err != nil {
		t.Error(err)
	}
	for name, roots := range map[string]*x509.CertPool{"other.test": pool, "x.api.test": pool, "api.test": emptyPool()} {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err == nil {
			t.Errorf("the certificate is good for %s", name)
		}
	}
	if !slices.Equal(leaf.DNSNames, []string{"api.test"}) || leaf.IsCA || leaf.CheckSignature(x509.ECDSAWithSHA256, nil, nil) == nil ||
		time.Until(leaf.NotAfter) > 25*time.Hour || time.Until(root.NotAfter) > 366*24*time.Hour {
		t.Errorf("certificate for %v until %v, of one until %v", leaf.DNSNames, leaf.NotAfter, root.NotAfter)
	}
	if public := goproxy.GoproxyCa.Leaf; public != nil && leaf.CheckSignatureFrom(public) == nil {
		t.Error("signed with the library's key")
	}
	if newProxy(t, egress.Options{}).CertificatePEM() == nil || string(newProxy(t, egress.Options{}).CertificatePEM()) == string(s.proxy.CertificatePEM()) {
		t.Error("two proxies have one authority")
	}
}

// upgrade is a server that, asked for a WebSocket, sends back what comes.
func upgrade(w http.ResponseWriter, r *http.Request) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		fmt.Fprintf(w, "no upgrade, key %q, upgrade %q", r.Header.Get("X-Key"), r.Header.Get("Upgrade"))
		return
	}
	c, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	fmt.Fprintf(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Had: %t\r\n\r\n", r.Header.Get("X-Key") == key)
	_, _ = io.Copy(c, buffered)
}

// TestWebSockets: they go through, with secrets in their first request; other
// upgrades are not asked for.
func TestWebSockets(t *testing.T) {
	t.Parallel()
	s, origin := withSecrets(t, false, upgrade)
	target, _ := url.Parse(origin)
	open := func() net.Conn {
		c, err := connect(t, s.address, target.Host)
		if err != nil {
			t.Fatal(err)
		}
		return tls.Client(c, &tls.Config{ServerName: "api.test", InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}})
	}
	c := open()
	const headers = "Host: %s\r\nX-Key: " + keyHolder + "\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n"
	fmt.Fprintf(c, "GET / HTTP/1.1\r\n"+headers+"ahead", target.Host, "websocket")
	buffered := bufio.NewReader(c)
	response, err := http.ReadResponse(buffered, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols || response.Header.Get("X-Had") != "true" {
		t.Fatal(response, err)
	}
	_, _ = io.WriteString(c, " and after")
	echoed := make([]byte, len("ahead and after"))
	if _, err := io.ReadFull(buffered, echoed); err != nil || string(echoed) != "ahead and after" {
		t.Errorf("%q, %v", echoed, err)
	}
	_ = c.Close()

	c = open()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\n"+headers, target.Host, "h2c")
	response, err = http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 100)
	n, _ := response.Body.Read(body)
	if got := string(body[:n]); got != fmt.Sprintf(`no upgrade, key %q, upgrade ""`, keyHolder) && !strings.Contains(got, `upgrade ""`) {
		t.Errorf("another upgrade: %d %q", response.StatusCode, got)
	}
}

// TestBytesAreBounded: both ways together, in tunnels and where requests are seen.
func TestBytesAreBounded(t *testing.T) {
	t.Parallel()
	long := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) }
	secure, plain := serve(t, "127.0.0.1", true, long), serve(t, "127.0.0.1", false, long)
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	for _, target := range []string{"https://" + at("api.test", secure), "http://" + at("api.test", plain)} {
		s := openAlone(t, resolver, egress.Grant{
			Rules: rules(t, at("api.test", secure), "http://"+at("api.test", plain)), AllowPrivate: loopback, MaxBytes: 1<<20 + 1<<19,
		})
		program := client(t, s.address, nil)
		if status, body := get(t, program, target); status != http.StatusOK || len(body) != 1<<20 {
			t.Errorf("%s: %d, %d bytes", target, status, len(body))
		}
		if _, body := get(t, program, target); len(body) >= 1<<20 {
			t.Errorf("%s: all of the second answer came", target)
		}
		if _, body := get(t, client(t, s.address, nil), target); !strings.Contains(body, "has used up the bytes that it may send and receive") {
			t.Errorf("%s: then %.200s", target, body)
		}
		usage, total := s.Usage(), int64(0)
		for _, host := range usage.Hosts {
			total += host.Bytes
		}
		if total > 1<<20+1<<19+1<<17 || !slices.ContainsFunc(usage.Hosts, func(h egress.HostUsage) bool { return h.Host == "api.test" && h.Reason == egress.TooMuch }) {
			t.Errorf("%d bytes passed: %+v", total, usage)
		}
	}
}

func TestRequestsAreBounded(t *testing.T) {
	t.Parallel()
	port := serve(t, "127.0.0.1", false, hello)
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, "http://"+at("api.test", port)), AllowPrivate: loopback, MaxRequests: 3})
	program := client(t, s.address, nil)
	for i, want := range []int{200, 403, 200, 429, 429} {
		target := "http://" + at("api.test", port)
		if want == 403 {
			target = "http://other.test"
		}
		if status, body := get(t, program, target); status != want {
			t.Errorf("request %d: %d %s", i, status, body)
		}
	}
}

// TestLowered: limits that are lowered hold at once, on connections that are open
// too, and none is raised.
func TestLowered(t *testing.T) {
	t.Parallel()
	const first = 1 << 20
	goOn := make(chan struct{})
	port := serve(t, "127.0.0.1", true, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", first))
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = io.WriteString(w, strings.Repeat("x", first))
	})
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, at("api.test", port)), AllowPrivate: loopback, MaxBytes: 8 * first, MaxRequests: 3})
	response, err := client(t, s.address, nil).Get("https://" + at("api.test", port))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadFull(response.Body, make([]byte, first)); err != nil {
		t.Fatal(err)
	}
	s.Lower(egress.Grant{MaxBytes: first / 2, MaxRequests: 2})
	s.Lower(egress.Grant{}) // which is more
	close(goOn)
	if rest, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("%d bytes more came", len(rest))
	}
	if _, body := get(t, client(t, s.address, nil), "https://"+at("api.test", port)); !strings.Contains(body, "has used up the bytes") {
		t.Errorf("then %s", body)
	}
	if _, body := get(t, client(t, s.address, nil), "https://"+at("api.test", port)); !strings.Contains(body, "has made all the requests") {
		t.Errorf("at last %s", body)
	}
}

// TestManyInBulk: where more is carried at once than there are large buffers, all
// of it comes.
func TestManyInBulk(t *testing.T) {
	t.Parallel()
	port := serve(t, "127.0.0.1", true, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) })
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, at("api.test", port)), AllowPrivate: loopback})
	var all sync.WaitGroup
	for range 24 {
		all.Go(func() {
			if status, body := get(t, client(t, s.address, nil), "https://"+at("api.test", port)); status != http.StatusOK || len(body) != 1<<20 {
				t.Errorf("%d, %d bytes", status, len(body))
			}
		})
	}
	all.Wait()
}

// TestServeEnds: it returns when the listener is closed and what was sent is
// through, whatever a server does, and after Close at once.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	stuck := make(chan struct{})
	defer close(stuck)
	arrived := make(chan struct{}, 8)
	port := serve(t, "127.0.0.1", false, func(http.ResponseWriter, *http.Request) {
		arrived <- struct{}{}
		<-stuck
	})
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	grant := egress.Grant{Rules: rules(t, "http://"+at("api.test", port)), AllowPrivate: loopback}
	for _, end := range []func(*served){
		func(s *served) { _ = s.listener.Close() },
		func(s *served) { s.Close() },
	} {
		s := openAlone(t, resolver, grant)
		idle := dialRaw(t, s.address)
		c := dialRaw(t, s.address)
		fmt.Fprintf(c, "GET http://api.test:%d/ HTTP/1.1\r\nHost: x\r\n\r\n", port)
		<-arrived
		end(s)
		<-s.done
		for _, c := range []net.Conn{idle, c} {
			if answer, err := io.ReadAll(c); errors.Is(err, os.ErrDeadlineExceeded) || strings.Contains(string(answer), " 200 ") {
				t.Errorf("a connection is open after the end: %q, %v", answer, err)
			}
		}
		s.Close() // again
	}
	session, err := newProxy(t, egress.Options{}).Open(egress.Grant{})
	if err != nil {
		t.Fatal(err)
	}
	session.Close()
	session.Serve(listen(t, "127.0.0.1"))
}

// TestManyAtOnce: more connections than are served at once wait for their turn.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	port := serve(t, "127.0.0.1", false, hello)
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, "http://"+at("api.test", port)), AllowPrivate: loopback})
	var all sync.WaitGroup
	for range 300 {
		all.Go(func() {
			c, err := net.Dial("tcp", s.address)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			fmt.Fprintf(c, "GET http://api.test:%d/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", port)
			if answer, _ := io.ReadAll(c); !strings.HasSuffix(string(answer), "HTTP/1.1") {
				t.Errorf("%.100q", answer)
			}
		})
	}
	all.Wait()
}

// TestTruncatedAnswers: what breaks off looks so.
func TestTruncatedAnswers(t *testing.T) {
	t.Parallel()
	port := serve(t, "127.0.0.1", false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/length" {
			w.Header().Set("Content-Length", "1000")
		}
		_, _ = io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	s := openAlone(t, resolver, egress.Grant{Rules: rules(t, "http://"+at("api.test", port)), AllowPrivate: loopback})
	for _, path := range []string{"/length", "/chunks"} {
		if _, body := get(t, client(t, s.address, nil), "http://"+at("api.test", port)+path); body != "beginunexpected EOF" {
			t.Errorf("%s = %q", path, body)
		}
	}
}

// usersProxy is a proxy of the user, which connects to what it is asked for by
// name, and knows names that nobody else does.
func usersProxy(t *testing.T, ports map[string]int) (address string, asked *sync.Map) {
	asked = &sync.Map{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Store(r.Method+" "+r.Host, r.Header.Get("Proxy-Authorization"))
		port, known := ports[r.Host]
		switch {
		case !known:
			http.Error(w, "no", http.StatusForbidden)
		case r.Method == http.MethodConnect:
			target, err := net.Dial("tcp", at("127.0.0.1", port))
			if err != nil {
				return
			}
			defer target.Close()
			c, _, _ := w.(http.Hijacker).Hijack()
			defer c.Close()
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
			go func() { _, _ = io.Copy(target, c) }()
			_, _ = io.Copy(c, target)
		default:
			_, _ = io.WriteString(w, "by the user's proxy")
		}
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), asked
}

// TestProxiesOfTheUser: what the server's environment names is used, by name, but
// not for hosts of private networks that are granted.
func TestProxiesOfTheUser(t *testing.T) {
	t.Parallel()
	secure, private := serve(t, "127.0.0.1", true, hello), serve(t, "127.0.0.1", false, hello)
	address, asked := usersProxy(t, map[string]int{"api.test:443": secure, "plain.test": 0, "public.test": 0})
	resolver := &names{} // which knows api.test as little as plain.test
	resolver.set("private.test", "127.0.0.1")
	resolver.set("public.test", "4000::1") // which is nobody's
	proxy := newProxy(t, egress.Options{Resolver: resolver, Environ: []string{
		"https_proxy=http://me:word@" + address, "HTTP_PROXY=" + address, "NO_PROXY=direct.test",
	}})
	everywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	s := open(t, proxy, egress.Grant{AllowPrivate: everywhere, Rules: rules(t,
		"api.test", "refused.test", "http://plain.test", "http://public.test", "direct.test", "http://"+at("private.test", private))})
	program := client(t, s.address, nil)
	for _, test := range []struct{ url, want string }{
		{"https://api.test", "hello api.test HTTP/2.0"},
		{"http://plain.test", "by the user's proxy"},
		{"http://public.test", "by the user's proxy"},
		{"http://" + at("private.test", private), "hello " + at("private.test", private) + " HTTP/1.1"},
		{"https://refused.test", "the proxy of this machine's user answers 403"},
		{"https://direct.test", "the name was not found"},
		{"https://other.test", "it is not granted to this skill"},
	} {
		if _, body := get(t, program, test.url); !strings.Contains(body, test.want) {
			t.Errorf("%s = %q, want %q", test.url, body, test.want)
		}
	}
	if credentials, _ := asked.Load("CONNECT api.test:443"); credentials != "Basic bWU6d29yZA==" {
		t.Errorf("Proxy-Authorization = %q", credentials)
	}
	for _, host := range []string{"CONNECT other.test:443", "CONNECT direct.test:443", "GET " + at("private.test", private)} {
		if _, found := asked.Load(host); found {
			t.Errorf("the user's proxy was asked for %s", host)
		}
	}
	for _, environ := range []string{"HTTPS_PROXY=socks5://me:word@localhost", "HTTP_PROXY=http://", "HTTPS_PROXY=http://me:word@bad host"} {
		if _, err := egress.New(egress.Options{Environ: []string{environ}}); err == nil || strings.Contains(err.Error(), "word") {
			t.Errorf("New with %s: %v", environ, err)
		}
	}
}
