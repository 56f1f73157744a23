package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// stall sends a request whose body stops before its end, and returns the
// connection.
func stall(t *testing.T, url, method, path string, sent int) net.Conn {
	t.Helper()
	connection, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	must(t, err)
	t.Cleanup(func() { connection.Close() })
	_, err = fmt.Fprintf(connection, "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		method, path, 16<<20, strings.Repeat(" ", sent))
	must(t, err)
	return connection
}

// TestHTTPStalledBodies: a body of which nothing more comes is not waited for,
// wherever it is sent; a stream without one lasts.
func TestHTTPStalledBodies(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	type stalled struct {
		what       string
		connection net.Conn
		status     int // or 0 for an end without an answer
	}
	var all []stalled
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"POST", "/mcp", http.StatusRequestTimeout},
		{"GET", "/mcp", http.StatusRequestTimeout},
		{"DELETE", "/mcp", http.StatusRequestTimeout},
		{"GET", "/sse", http.StatusRequestTimeout},
		{"POST", "/message?sessionId=x", http.StatusRequestTimeout},
		{"GET", "/healthz", http.StatusOK},
		{"POST", "/nowhere", http.StatusNotFound},
	} {
		for _, sent := range []int{0, 100_000} {
			all = append(all, stalled{fmt.Sprintf("%s %s with %d bytes", test.method, test.path, sent), stall(t, url, test.method, test.path, sent), test.status})
		}
	}
	stream := send(t, http.MethodGet, url+"/sse")
	events := bufio.NewScanner(stream.Body)
	endpoint := url + nextData(t, events)
	for _, s := range all {
		must(t, s.connection.SetReadDeadline(time.Now().Add(patience)))
		response, err := http.ReadResponse(bufio.NewReader(s.connection), nil)
		if err != nil || response.StatusCode != s.status {
			t.Errorf("%s: %v %v, want %d", s.what, response, err, s.status)
			continue
		}
		// And the connection is given up.
		buffer := make([]byte, 1<<10)
		for err == nil {
			_, err = s.connection.Read(buffer)
		}
		if failure, ok := err.(net.Error); ok && failure.Timeout() {
			t.Errorf("%s: the connection is still there", s.what)
		}
	}
	post(t, endpoint, rpc(1, "initialize", initialize))
	if data := nextData(t, events); !strings.Contains(data, "protocolVersion") {
		t.Errorf("the stream says %s", data)
	}
}
