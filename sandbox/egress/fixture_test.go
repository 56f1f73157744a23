package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/hosts"
	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// names is a resolver of the test's own. A name with several answers returns them
// in turn, the last for ever.
type names struct {
	mu      sync.Mutex
	answers map[string][][]netip.Addr
	asked   []string
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, host)
	answers := n.answers[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.answers[host] = answers[1:]
	}
	return answers[0], nil
}

// set has a name answer with addresses; each text is one answer, of addresses
// with spaces between.
func (n *names) set(host string, answers ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers == nil {
		n.answers = map[string][][]netip.Addr{}
	}
	n.answers[host] = nil
	for _, answer := range answers {
		var addresses []netip.Addr
		for text := range strings.FieldsSeq(answer) {
			addresses = append(addresses, netip.MustParseAddr(text))
		}
		n.answers[host] = append(n.answers[host], addresses)
	}
}

func (n *names) wasAsked(part string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Contains(strings.Join(n.asked, "\n"), part)
}

// authority is what the servers of a test have their certificates of.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pool        *x509.CertPool
}

var newAuthority = sync.OnceValue(func() *authority {
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, _ := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	return &authority{certificate: certificate, key: key, pool: pool}
})

func (a *authority) certify(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	name := hello.ServerName
	if name == "" {
		name = "unnamed.test"
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, a.key.Public(), a.key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, err
}

// listen listens on an address of this machine's loopback interface.
func listen(t testing.TB, ip string) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

func portOf(listener net.Listener) int { return listener.Addr().(*net.TCPAddr).Port }

// serve serves HTTP at an address, with TLS for every name if secure. It returns
// the port.
func serve(t testing.TB, ip string, secure bool, handler http.HandlerFunc) int {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	_ = server.Listener.Close()
	server.Listener = listen(t, ip)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableHTTP2 = true
	if secure {
		server.TLS = &tls.Config{GetCertificate: newAuthority().certify}
		server.StartTLS()
		server.TLS.Certificates = nil // the server's own, for names of examples
	} else {
		server.Start()
	}
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return portOf(server.Listener)
}

func rules(t testing.TB, texts ...string) []hosts.Rule {
	t.Helper()
	var parsed []hosts.Rule
	for _, text := range texts {
		rule, err := hosts.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		parsed = append(parsed, rule)
	}
	return parsed
}

// loopback is where the servers of tests are that stand for those of the world.
var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}

// served is a session and where programs find it.
type served struct {
	*egress.Session
	proxy    *egress.Proxy
	listener net.Listener
	address  string
	done     chan struct{}
}

func newProxy(t testing.TB, options egress.Options) *egress.Proxy {
	t.Helper()
	if options.RootCAs == nil {
		options.RootCAs = newAuthority().pool
	}
	proxy, err := egress.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return proxy
}

// open serves a session of a proxy, until the test ends.
func open(t testing.TB, proxy *egress.Proxy, grant egress.Grant) *served {
	t.Helper()
	if grant.Skill == "" {
		grant.Skill = "demo"
	}
	session, err := proxy.Open(grant)
	if err != nil {
		t.Fatal(err)
	}
	s := &served{Session: session, proxy: proxy, listener: listen(t, "127.0.0.1"), done: make(chan struct{})}
	s.address = s.listener.Addr().String()
	go func() {
		defer close(s.done)
		session.Serve(s.listener)
	}()
	t.Cleanup(func() {
		session.Close()
		<-s.done
	})
	return s
}

// client is a program that uses a proxy and follows no redirects. It trusts the
// test's servers, and the proxy if that is given.
func client(t testing.TB, address string, proxy *egress.Proxy) *http.Client {
	t.Helper()
	pool := newAuthority().pool.Clone()
	if proxy != nil && !pool.AppendCertsFromPEM(proxy.CertificatePEM()) {
		t.Fatal("the proxy's certificate is none")
	}
	transport := &http.Transport{
		Proxy:             http.ProxyURL(&url.URL{Scheme: "http", Host: address}),
		TLSClientConfig:   &tls.Config{RootCAs: pool},
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// get returns status and body, or the error's text.
func get(t testing.TB, c *http.Client, target string) (int, string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, target, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, c, request)
}

func do(t testing.TB, c *http.Client, request *http.Request) (int, string) {
	t.Helper()
	response, err := c.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return response.StatusCode, string(body) + err.Error()
	}
	return response.StatusCode, string(body)
}

// dialRaw connects to a proxy; nothing on the connection may wait for ever.
func dialRaw(t testing.TB, address string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// connect asks for a connection by CONNECT; the error is what the proxy answers
// instead.
func connect(t testing.TB, address, target string) (net.Conn, error) {
	t.Helper()
	c := dialRaw(t, address)
	fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
	buffered := bufio.NewReader(c)
	response, err := http.ReadResponse(buffered, &http.Request{Method: http.MethodConnect})
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	return c, nil
}

// socks asks for a connection by SOCKS5, with an address as it goes over the wire
// behind its type.
func socks(t testing.TB, proxy string, command, kind byte, address []byte, port int) (net.Conn, error) {
	t.Helper()
	c := dialRaw(t, proxy)
	request := append([]byte{5, 1, 0, 5, command, 0, kind}, address...)
	if _, err := c.Write(append(request, byte(port>>8), byte(port))); err != nil {
		return nil, err
	}
	reply := make([]byte, 12)
	if _, err := io.ReadFull(c, reply); err != nil {
		return nil, err
	}
	if !bytes.Equal(reply[:4], []byte{5, 0, 5, 0}) {
		return nil, fmt.Errorf("SOCKS reply %d", reply[3])
	}
	return c, nil
}

// socksName is a name as SOCKS5 has it.
func socksName(name string) []byte { return append([]byte{byte(len(name))}, name...) }

// speakTLS asks for a page over TLS that names a host, with another in the
// request.
func speakTLS(t testing.TB, c net.Conn, config *tls.Config, host string) string {
	t.Helper()
	config.InsecureSkipVerify = true
	secured := tls.Client(c, config)
	if err := secured.HandshakeContext(t.Context()); err != nil {
		return err.Error()
	}
	return speakHTTP(t, secured, "/", host)
}

// speakHTTP asks for a page without TLS.
func speakHTTP(t testing.TB, c net.Conn, target, host string) string {
	t.Helper()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, host)
	answer, err := io.ReadAll(c)
	if err != nil {
		return string(answer) + err.Error()
	}
	return string(answer)
}

func at(name string, port int) string { return net.JoinHostPort(name, strconv.Itoa(port)) }

// clientHello returns what a program sends first for a name.
func clientHello(name string) []byte {
	program, server := net.Pipe()
	defer server.Close()
	go func() {
		_ = tls.Client(program, &tls.Config{ServerName: name, InsecureSkipVerify: true}).HandshakeContext(context.Background())
	}()
	hello := make([]byte, 16<<10)
	n, err := server.Read(hello)
	if err != nil {
		panic(errors.New("no ClientHello"))
	}
	return hello[:n]
}

// openAlone serves a session of a proxy of its own.
func openAlone(t testing.TB, resolver *names, grant egress.Grant) *served {
	t.Helper()
	return open(t, newProxy(t, egress.Options{Resolver: resolver}), grant)
}

// closedPort is one where nobody listens on any address of this machine.
func closedPort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	return portOf(listener)
}

func machineAddresses(t testing.TB) []netip.Addr {
	t.Helper()
	found, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	var addresses []netip.Addr
	for _, address := range found {
		prefix, err := netip.ParsePrefix(address.String())
		if err != nil {
			t.Fatal(err)
		}
		addresses = append(addresses, prefix.Addr())
	}
	return addresses
}

func emptyPool() *x509.CertPool { return x509.NewCertPool() }
