package egress_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/egress"
)

// sink serves connections with what follows a ClientHello, as fast as it can.
func sink(b *testing.B, serve func(net.Conn)) int {
	listener := listen(b, "127.0.0.1")
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return portOf(listener)
}

func benchSession(b *testing.B, port int) *served {
	resolver := &names{}
	resolver.set("api.test", "127.0.0.1")
	return open(b, newProxy(b, egress.Options{Resolver: resolver}), egress.Grant{
		Rules: rules(b, at("api.test", port)), AllowPrivate: loopback, MaxBytes: 1 << 60, MaxRequests: 1 << 40,
	})
}

// BenchmarkConnect measures what CONNECT adds to connecting: the goal is 2 ms at
// the median.
func BenchmarkConnect(b *testing.B) {
	port := sink(b, func(c net.Conn) { _, _ = c.Read(make([]byte, 1)) })
	s := benchSession(b, port)
	target := at("api.test", port)
	request := []byte(fmt.Sprintf("CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target))
	reply := make([]byte, len("HTTP/1.1 200 Connection established\r\n\r\n"))
	var direct, through []time.Duration
	for b.Loop() {
		start := time.Now()
		c, err := net.Dial("tcp", at("127.0.0.1", port))
		if err != nil {
			b.Fatal(err)
		}
		direct = append(direct, time.Since(start))
		_ = c.Close()

		start = time.Now()
		if c, err = net.Dial("tcp", s.address); err != nil {
			b.Fatal(err)
		}
		_, _ = c.Write(request)
		if _, err := io.ReadFull(c, reply); err != nil {
			b.Fatal(err)
		}
		through = append(through, time.Since(start))
		_ = c.Close()
	}
	slices.Sort(direct)
	slices.Sort(through)
	added := through[len(through)/2] - direct[len(direct)/2]
	b.ReportMetric(float64(added.Microseconds())/1000, "ms-added")
}

// BenchmarkThroughput measures what a tunnel takes of the throughput: the goal is
// 70 % of the direct one for TLS, which is all that tunnels carry. That of bare
// bytes says what the tunnel itself can do.
func BenchmarkThroughput(b *testing.B) {
	const size = 256 << 20
	block := make([]byte, 256<<10)
	raw := sink(b, func(c net.Conn) {
		if _, err := c.Read(make([]byte, 4096)); err != nil {
			return
		}
		for range size / len(block) {
			if _, err := c.Write(block); err != nil {
				return
			}
		}
	})
	secure := sink(b, func(c net.Conn) {
		secured := tls.Server(c, &tls.Config{GetCertificate: newAuthority().certify})
		for range size / len(block) {
			if _, err := secured.Write(block); err != nil {
				return
			}
		}
		_ = secured.Close()
	})
	for name, test := range map[string]struct {
		port int
		open func(net.Conn) io.Reader
	}{
		"bytes": {raw, func(c net.Conn) io.Reader {
			_, _ = c.Write(clientHello("api.test"))
			return c
		}},
		"TLS": {secure, func(c net.Conn) io.Reader {
			return tls.Client(c, &tls.Config{ServerName: "api.test", RootCAs: newAuthority().pool})
		}},
	} {
		b.Run(name, func(b *testing.B) {
			s := benchSession(b, test.port)
			var direct, through time.Duration
			drain := func(c net.Conn) time.Duration {
				start := time.Now()
				n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, test.open(c), make([]byte, 256<<10))
				if err != nil || n != size {
					b.Fatalf("%d bytes, %v", n, err)
				}
				return time.Since(start)
			}
			for b.Loop() {
				c, err := net.Dial("tcp", at("127.0.0.1", test.port))
				if err != nil {
					b.Fatal(err)
				}
				direct += drain(c)
				if c, err = connect(b, s.address, at("api.test", test.port)); err != nil {
					b.Fatal(err)
				}
				_ = c.SetDeadline(time.Time{})
				through += drain(c)
			}
			b.ReportMetric(100*direct.Seconds()/through.Seconds(), "%-of-direct")
			b.ReportMetric(size*float64(b.N)/direct.Seconds()/1e6, "MB/s-direct")
		})
	}
}
