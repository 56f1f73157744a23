package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// naive is a proxy with the faults that others were found to have: it is what the
// attacks of these tests succeed against. It judges the text of names by allowed
// and denied, at the first request of a connection, and has them looked up again to
// connect.
type naive struct {
	resolver *names
	allowed  []string // ends of names; all if empty
	denied   []string // whole names and addresses
	wantSNI  bool     // holds the first ClientHello to the name
	judge    func(addresses []netip.Addr) bool
	secrets  map[string]string
}

func (n *naive) serve(t *testing.T) string {
	t.Helper()
	listener := listen(t, "127.0.0.1")
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = c.Close() })
			go n.serveConn(c)
		}
	}()
	return listener.Addr().String()
}

func (n *naive) serveConn(c net.Conn) {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	buffered := bufio.NewReader(c)
	first, err := buffered.Peek(1)
	switch {
	case err != nil:
	case first[0] == 5:
		n.serveSOCKS(c, buffered)
	case first[0] == 4:
		n.serveSOCKS4(c, buffered)
	default:
		n.serveHTTP(c, buffered)
	}
}

// allows judges the text of a name alone.
func (n *naive) allows(host string) bool {
	for _, denied := range n.denied {
		if host == denied {
			return false
		}
	}
	if n.judge != nil {
		addresses, err := n.resolver.LookupNetIP(context.Background(), "ip", host)
		if err != nil || !n.judge(addresses) {
			return false
		}
	}
	if len(n.allowed) == 0 {
		return true
	}
	for _, allowed := range n.allowed {
		if strings.HasSuffix(host, allowed) || strings.HasPrefix(host, allowed) {
			return true
		}
	}
	return false
}

// dial looks a name up as C programs do: up to a NUL or another byte that ends it,
// without the last dot, as an address where it can be read as one.
func (n *naive) dial(host string, port int) (net.Conn, error) {
	if end := strings.IndexAny(host, "\x00\r\n%"); end >= 0 {
		host = host[:end]
	}
	host = strings.TrimSuffix(host, ".")
	if name, digits, found := strings.Cut(host, ":"); found && strings.Count(host, ":") == 1 {
		digits, _, _ = strings.Cut(digits, ".")
		if inside, err := strconv.Atoi(digits); err == nil {
			host, port = name, inside
		}
	}
	address, ok := readAddress(host)
	if !ok {
		found, err := n.resolver.LookupNetIP(context.Background(), "ip", host)
		if err != nil {
			return nil, err
		}
		address = found[len(found)-1]
	}
	return net.Dial("tcp", netip.AddrPortFrom(address, uint16(port)).String())
}

// readAddress reads what inet_aton reads: numbers of up to 32 bits, decimal, octal
// or hexadecimal.
func readAddress(host string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		if bytes16 := address.As16(); bytes.Equal(bytes16[:12], make([]byte, 12)) {
			address = netip.AddrFrom4([4]byte(bytes16[12:]))
		}
		return address.Unmap(), true
	}
	parts := strings.Split(host, ".")
	whole := uint64(0)
	for i, part := range parts {
		number, err := strconv.ParseUint(part, 0, 32)
		if err != nil {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			whole |= number
		} else {
			whole |= number << (24 - 8*i)
		}
	}
	return netip.AddrFrom4([4]byte{byte(whole >> 24), byte(whole >> 16), byte(whole >> 8), byte(whole)}), true
}

func (n *naive) serveHTTP(c net.Conn, buffered *bufio.Reader) {
	line, err := buffered.ReadString('\n')
	if err != nil {
		return
	}
	method, target, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	target = target[:max(strings.LastIndex(target, " "), 0)]
	if method == http.MethodConnect {
		for header := "x"; strings.TrimRight(header, "\r\n") != "" && err == nil; {
			header, err = buffered.ReadString('\n')
		}
		colon := strings.LastIndex(target, ":")
		n.tunnel(c, buffered, target[:max(colon, 0)], target[colon+1:], "HTTP/1.1 200 OK\r\n\r\n")
		return
	}
	n.serveRequests(c, bufio.NewReader(io.MultiReader(strings.NewReader(line), buffered)))
}

// serveRequests judges the first request by its Host header, forwards all of them,
// and follows redirects.
func (n *naive) serveRequests(c net.Conn, buffered *bufio.Reader) {
	for first := true; ; first = false {
		var raw strings.Builder
		for line := "x"; strings.TrimRight(line, "\r\n") != ""; {
			var err error
			if line, err = buffered.ReadString('\n'); err != nil {
				return
			}
			raw.WriteString(line)
		}
		header := hostHeader(raw.String())
		request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw.String())))
		if err != nil {
			return
		}
		if first && !n.allows(strings.Split(header, ":")[0]) {
			_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
			return
		}
		n.forward(c, request, header)
		if request.Close {
			return
		}
	}
}

func (n *naive) forward(c net.Conn, request *http.Request, header string) {
	request.RequestURI, request.Host = "", header
	if request.URL.Host == "" {
		request.URL = &url.URL{Scheme: "http", Host: header, Path: request.URL.Path}
	}
	for _, values := range request.Header {
		for i := range values {
			for placeholder, value := range n.secrets {
				values[i] = strings.ReplaceAll(values[i], placeholder, value)
			}
		}
	}
	response, err := n.client().Do(request)
	if err != nil {
		_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer response.Body.Close()
	_ = response.Write(c)
}

func (n *naive) client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			host, digits, _ := net.SplitHostPort(address)
			port, _ := strconv.Atoi(digits)
			return n.dial(host, port)
		},
	}}
}

func hostHeader(raw string) string {
	for line := range strings.Lines(raw) {
		if name, value, found := strings.Cut(line, ":"); found && strings.EqualFold(name, "Host") {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (n *naive) tunnel(c net.Conn, buffered *bufio.Reader, host, digits, granted string) {
	port, err := strconv.Atoi(digits)
	if err != nil || !n.allows(host) {
		_, _ = io.WriteString(c, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
		return
	}
	server, err := n.dial(host, port&0xffff)
	if err != nil {
		_, _ = io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
		return
	}
	defer server.Close()
	_, _ = io.WriteString(c, granted)
	if n.wantSNI {
		raw, _ := buffered.Peek(1)
		raw, _ = buffered.Peek(max(buffered.Buffered(), len(raw)))
		if !bytes.Contains(raw, []byte(host)) {
			return
		}
	}
	go func() { _, _ = io.Copy(server, buffered) }()
	_, _ = io.Copy(c, server)
}

func (n *naive) serveSOCKS(c net.Conn, buffered *bufio.Reader) {
	greeting := make([]byte, 3)
	request := make([]byte, 4)
	_, _ = io.ReadFull(buffered, greeting)
	_, _ = c.Write([]byte{5, 0})
	_, _ = io.ReadFull(buffered, request)
	length := map[byte]int{1: 4, 4: 16}[request[3]]
	if request[3] == 3 {
		first, _ := buffered.ReadByte()
		length = int(first)
	}
	address := make([]byte, length+2)
	if _, err := io.ReadFull(buffered, address); err != nil {
		return
	}
	host := string(address[:length])
	if ip, ok := netip.AddrFromSlice(address[:length]); ok && request[3] != 3 {
		host = ip.String()
	}
	if request[1] == 0xF0 { // Tor's "resolve"
		found, _ := n.resolver.LookupNetIP(context.Background(), "ip", host)
		_, _ = c.Write([]byte{5, byte(len(found)), 0, 1, 0, 0, 0, 0, 0, 0})
		return
	}
	port := int(address[length])<<8 + int(address[length+1])
	n.tunnel(c, buffered, host, strconv.Itoa(port), "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
}

func (n *naive) serveSOCKS4(c net.Conn, buffered *bufio.Reader) {
	request := make([]byte, 8)
	_, _ = io.ReadFull(buffered, request)
	_, _ = buffered.ReadString(0)
	port := int(request[2])<<8 + int(request[3])
	n.tunnel(c, buffered, netip.AddrFrom4([4]byte(request[4:])).String(), strconv.Itoa(port), "\x00\x5a\x00\x00\x00\x00\x00\x00")
}
