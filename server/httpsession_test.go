package server_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// send sends a request without a body; headers are pairs.
func send(t *testing.T, method, url string, headers ...string) *http.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	must(t, err)
	request.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i+1] != "" {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// TestHTTPEndedSession: a session that its client ended is answered with 404
// from then on, whatever is asked, and no other session suffers.
func TestHTTPEndedSession(t *testing.T) {
	t.Parallel()
	base := newFixture(t, testdata.Valid()).serveHTTP(t)
	url, ended, other := base+"/mcp", legacy(t, base), legacy(t, base)
	list := rpc(2, "tools/list", map[string]any{})

	if response, _ := post(t, url, list, ended...); response.StatusCode != http.StatusOK {
		t.Fatalf("before its end: %s", response.Status)
	}
	if response := send(t, http.MethodDelete, url, ended...); response.StatusCode != http.StatusOK {
		t.Fatalf("DELETE: %s", response.Status)
	}
	if response, body := post(t, url, list, ended...); response.StatusCode != http.StatusNotFound {
		t.Errorf("POST after the end: %s %s", response.Status, body)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if response := send(t, method, url, ended...); response.StatusCode != http.StatusNotFound {
			t.Errorf("%s after the end: %s", method, response.Status)
		}
	}
	if response, body := post(t, url, list, other...); response.StatusCode != http.StatusOK {
		t.Errorf("another session: %s %s", response.Status, body)
	}
	if response := send(t, http.MethodGet, url, other...); response.StatusCode != http.StatusOK {
		t.Errorf("GET of another session: %s", response.Status)
	}
}

// TestHTTPUnknownSession: an id of the right form is served, since another
// run of the server may have given it out; anything else is not.
func TestHTTPUnknownSession(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t) + "/mcp"
	list := rpc(1, "tools/list", map[string]any{})
	for id, status := range map[string]int{
		"mcp-session-5b2f2f3e-0000-4000-8000-000000000000": http.StatusOK,
		"mcp-session-":  http.StatusNotFound,
		"../../session": http.StatusNotFound,
	} {
		headers := []string{"Mcp-Session-Id", id, "MCP-Protocol-Version", "2025-11-25"}
		if response, body := post(t, url, list, headers...); response.StatusCode != status {
			t.Errorf("POST %q: %s %s, want %d", id, response.Status, body, status)
		}
		if response := send(t, http.MethodDelete, url, headers...); response.StatusCode != status {
			t.Errorf("DELETE %q: %s, want %d", id, response.Status, status)
		}
		if response := send(t, http.MethodGet, url, headers...); response.StatusCode != http.StatusNotFound {
			t.Errorf("GET %q: %s, want 404", id, response.Status)
		}
	}
}

// TestHTTPSessionHeaderOfModernRequest: from 2026-07-28 on there are no
// sessions, so the header of an ended one means nothing.
func TestHTTPSessionHeaderOfModernRequest(t *testing.T) {
	t.Parallel()
	base := newFixture(t, testdata.Valid()).serveHTTP(t)
	url, session := base+"/mcp", legacy(t, base)
	send(t, http.MethodDelete, url, session...)
	headers := append(modernHeaders("tools/list", ""), "Mcp-Session-Id", session[1])
	if response, body := post(t, url, rpc(1, "tools/list", modern(nil)), headers...); response.StatusCode != http.StatusOK {
		t.Errorf("POST: %s %s", response.Status, body)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if response := send(t, method, url, headers...); response.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %s", method, response.Status)
		}
	}
}

// TestHTTPEndedSessionsAreBounded: no client makes the server remember more
// than the latest few thousand ended sessions. One that is forgotten can be begun
// again, as any id, and then has nothing of what it had.
func TestHTTPEndedSessionsAreBounded(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid(), "toolset=workspace").serveHTTP(t) + "/mcp"
	const remembered = 4096
	session := func(i int) []string {
		return []string{"Mcp-Session-Id", fmt.Sprintf("mcp-session-00000000-0000-4000-8000-%012x", i)}
	}
	create := rpc(1, "tools/call", map[string]any{"name": "create_file", "arguments": map[string]any{"path": "a.txt", "file_text": "text"}})
	if _, body := post(t, url, create, session(0)...); !bytes.Contains(body, []byte("ws-")) {
		t.Fatalf("create_file: %s", body)
	}
	for i := range remembered + 1 {
		response := send(t, http.MethodDelete, url, session(i)...)
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	for i, status := range map[int]int{0: http.StatusOK, 1: http.StatusNotFound, remembered: http.StatusNotFound} {
		if response, _ := post(t, url, rpc(1, "tools/list", map[string]any{}), session(i)...); response.StatusCode != status {
			t.Errorf("session ended %d ends ago: %s, want %d", remembered-i, response.Status, status)
		}
	}
	view := rpc(2, "tools/call", map[string]any{"name": "view", "arguments": map[string]any{"path": "a.txt"}})
	if _, body := post(t, url, view, session(0)...); !bytes.Contains(body, []byte("not_found")) {
		t.Errorf("a session that begins again has a file of the ended one: %s", body)
	}
}

// TestHTTPIdleSessionsExpire: a session that nobody uses is answered with 404
// after an hour, and its subscriptions are gone; one with a stream or with a
// run is in use.
func TestHTTPIdleSessionsExpire(t *testing.T) {
	t.Parallel()
	f, a := goneFixture(t)
	base := f.serveHTTP(t)
	url := base + "/mcp"
	idle, streaming, running := legacy(t, base), legacy(t, base), legacy(t, base)
	if response := send(t, http.MethodGet, url, streaming...); response.StatusCode != http.StatusOK {
		t.Fatalf("stream: %s", response.Status)
	}
	startHTTP(t, url, rpc(2, "tools/call", execParams("until [ -e go ]; do sleep 0.01; done")), running...)
	workspace := a.begins(t)
	list := rpc(3, "tools/list", map[string]any{})
	ask := func(name string, headers []string, want int) {
		t.Helper()
		if response, body := post(t, url, list, headers...); response.StatusCode != want {
			t.Errorf("%s: %s %s, want %d", name, response.Status, body, want)
		}
	}
	f.advance(59 * time.Minute)
	ask("used within the hour", idle, http.StatusOK)
	f.advance(59 * time.Minute)
	ask("used within the hour again", idle, http.StatusOK)
	f.advance(61 * time.Minute)
	ask("idle", idle, http.StatusNotFound)
	ask("with a stream", streaming, http.StatusOK)
	ask("with a run", running, http.StatusOK)
	must(t, os.WriteFile(filepath.Join(workspace, "go"), nil, 0o644))
	if result := a.ends(t); result.Status != sandbox.Exited {
		t.Errorf("the run ended as %v", result.Status)
	}
	ask("a new one", legacy(t, base), http.StatusOK)
}

// TestHTTPSessionsAreBounded: for one session too many the longest idle one
// ends, and none that is in use.
func TestHTTPSessionsAreBounded(t *testing.T) {
	t.Parallel()
	base := noteFixture(t).serveHTTP(t)
	url := base + "/mcp"
	const most = 1000
	streaming, first, second := legacy(t, base), legacy(t, base), legacy(t, base)
	if response := send(t, http.MethodGet, url, streaming...); response.StatusCode != http.StatusOK {
		t.Fatalf("stream: %s", response.Status)
	}
	for range most - 2 {
		post(t, url, rpc(1, "initialize", initialize))
	}
	for _, test := range []struct {
		name    string
		headers []string
		status  int
	}{{"the longest idle", first, http.StatusNotFound}, {"the next one", second, http.StatusOK}, {"one with a stream", streaming, http.StatusOK}} {
		if response, body := post(t, url, rpc(2, "tools/list", map[string]any{}), test.headers...); response.StatusCode != test.status {
			t.Errorf("%s: %s %s, want %d", test.name, response.Status, body, test.status)
		}
	}
}
