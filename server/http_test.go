package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// serveHTTP serves a fixture on a free loopback port.
func (f *fixture) serveHTTP(t *testing.T, allowedHosts ...string) (url string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- f.server.Serve(ctx, listener, allowedHosts) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	return "http://" + listener.Addr().String()
}

// A connection that a client made ahead and has not used does not keep the
// server from ending well.
func TestHTTPEndsWithUnusedConnections(t *testing.T) {
	t.Parallel()
	var conns []net.Conn
	t.Cleanup(func() { // when the server has ended
		for _, conn := range conns {
			conn.Close()
		}
	})
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	for range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		must(t, err)
		conns = append(conns, conn)
	}
	// Connections are accepted in their order.
	response, err := http.Get(url + "/healthz")
	must(t, err)
	must(t, response.Body.Close())
}

// post sends one message; headers are pairs.
func post(t *testing.T, url string, message any, headers ...string) (*http.Response, []byte) {
	t.Helper()
	body, ok := message.([]byte)
	if !ok {
		var err error
		body, err = json.Marshal(message)
		must(t, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			request.Host = headers[i+1]
		}
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	must(t, err)
	return response, answer
}

func rpc(id int, method string, params any) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}
}

// legacy opens a session of 2025-11-25.
func legacy(t *testing.T, url string) (headers []string) {
	t.Helper()
	response, _ := post(t, url+"/mcp", rpc(1, "initialize", initialize))
	session := response.Header.Get("Mcp-Session-Id")
	if session == "" {
		t.Fatal("no session")
	}
	headers = []string{"Mcp-Session-Id", session, "MCP-Protocol-Version", "2025-11-25"}
	post(t, url+"/mcp", map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, headers...)
	return headers
}

// modernHeaders are what a request of 2026-07-28 carries over HTTP.
func modernHeaders(method, name string) []string {
	headers := []string{"MCP-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	if name != "" {
		headers = append(headers, "Mcp-Name", name)
	}
	return headers
}

func TestHTTPHostAndOrigin(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t, "skills.example")
	ping := rpc(1, "initialize", initialize)
	for _, test := range []struct {
		name    string
		headers []string
		status  int
	}{
		{"plain", nil, http.StatusOK},
		{"localhost", []string{"Host", "localhost:1234"}, http.StatusOK},
		{"IPv6 loopback", []string{"Host", "[::1]:1234"}, http.StatusOK},
		{"allowed host", []string{"Host", "skills.example"}, http.StatusOK},
		{"loopback origin", []string{"Origin", "http://localhost:3000"}, http.StatusOK},
		{"allowed origin", []string{"Origin", "https://skills.example"}, http.StatusOK},
		{"rebound host", []string{"Host", "evil.example"}, http.StatusForbidden},
		{"host that looks like loopback", []string{"Host", "127.0.0.1.evil.example"}, http.StatusForbidden},
		{"user in host", []string{"Host", "localhost@evil.example"}, http.StatusForbidden},
		{"foreign origin", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
		{"null origin", []string{"Origin", "null"}, http.StatusForbidden},
		{"file origin", []string{"Origin", "file://localhost"}, http.StatusForbidden},
	} {
		for _, path := range []string{"/mcp", "/sse", "/message", "/healthz"} {
			if path != "/mcp" && test.status == http.StatusOK {
				continue
			}
			response, _ := post(t, url+path, ping, test.headers...)
			if response.StatusCode != test.status {
				t.Errorf("%s at %s: %s, want %d", test.name, path, response.Status, test.status)
			}
		}
	}
}

func TestHTTPHealth(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	response, err := http.Get(url + "/healthz")
	must(t, err)
	defer response.Body.Close()
	if body, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusOK || string(body) != "ok\n" {
		t.Errorf("%s %q", response.Status, body)
	}
}

// TestHTTPErrors: the router's errors have code, data and, in the stateless
// protocol, the HTTP status that belongs to the code.
func TestHTTPErrors(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	missing := map[string]any{"uri": "skill://nobody/SKILL.md"}
	session := legacy(t, url)
	for _, test := range []struct {
		name    string
		params  map[string]any
		headers []string
		status  int
	}{
		{"legacy", missing, session, http.StatusOK},
		{"modern", modern(missing), modernHeaders("resources/read", "skill://nobody/SKILL.md"), http.StatusBadRequest},
	} {
		t.Run(test.name, func(t *testing.T) {
			response, body := post(t, url+"/mcp", rpc(7, "resources/read", test.params), test.headers...)
			var answer struct {
				ID    int
				Error struct {
					Code int
					Data struct{ Code, URI string }
				}
			}
			must(t, json.Unmarshal(body, &answer))
			if response.StatusCode != test.status || answer.ID != 7 || answer.Error.Code != -32602 ||
				answer.Error.Data.Code != "file_not_found" || answer.Error.Data.URI != "skill://nobody/SKILL.md" {
				t.Errorf("%s %s", response.Status, body)
			}
		})
	}
}

func TestHTTPBadBodies(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	for _, test := range []struct {
		name   string
		body   []byte
		status int
	}{
		{"not JSON", []byte("{"), http.StatusBadRequest},
		{"empty", []byte(""), http.StatusBadRequest},
		{"not UTF-8", []byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"), http.StatusBadRequest},
		{"too long", bytes.Repeat([]byte(" "), 17<<20), http.StatusRequestEntityTooLarge},
	} {
		response, body := post(t, url+"/mcp", test.body)
		if response.StatusCode != test.status || !bytes.Contains(body, []byte(`"error"`)) {
			t.Errorf("%s: %s %.200s", test.name, response.Status, body)
		}
	}
	if response, _ := post(t, url+"/mcp", rpc(1, "initialize", initialize)); response.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s", response.Status)
	}
}

func nextData(t *testing.T, events *bufio.Scanner) string {
	t.Helper()
	for events.Scan() {
		data, ok := strings.CutPrefix(events.Text(), "data: ")
		if ok || strings.HasPrefix(data, "{") { // a body that is no stream
			return strings.TrimSpace(data)
		}
	}
	t.Fatalf("the stream ended: %v", events.Err())
	return ""
}
