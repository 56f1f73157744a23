package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// attended is a backend that tells when its runs begin and how they end.
type attended struct {
	sandbox.Backend
	begun chan sandbox.Spec
	ended chan sandbox.Result
}

func (a attended) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	a.begun <- spec
	result, err := a.Backend.Run(ctx, spec)
	a.ended <- result
	return result, err
}

// goneFixture serves a skill that may run anything.
func goneFixture(t *testing.T) (*fixture, attended) {
	t.Helper()
	needBash(t)
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "open", "SKILL.md"), []byte("---\nname: open\ndescription: Open.\n---\n"))
	a := attended{begun: make(chan sandbox.Spec, 100), ended: make(chan sandbox.Result, 100)}
	return newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend {
		a.Backend = plain
		return a
	}), a
}

// begins waits until a run has begun, and returns its workspace.
func (a attended) begins(t *testing.T) string {
	t.Helper()
	select {
	case spec := <-a.begun:
		return spec.Workspace
	case <-time.After(patience):
		t.Fatal("no run began")
		return ""
	}
}

// ends waits until a run has ended.
func (a attended) ends(t *testing.T) sandbox.Result {
	t.Helper()
	select {
	case result := <-a.ended:
		return result
	case <-time.After(patience):
		t.Fatal("the run did not end")
		return sandbox.Result{}
	}
}

func execParams(command string) map[string]any {
	return map[string]any{"name": "exec", "arguments": map[string]any{"name": "open", "command": command, "timeoutMs": 600_000}}
}

// startHTTP posts a message and does not wait; hangUp closes the connection.
func startHTTP(t *testing.T, url string, message any, headers ...string) (answered <-chan error, hangUp func()) {
	t.Helper()
	body, err := json.Marshal(message)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	done := make(chan error, 1)
	go func() {
		response, err := (&http.Client{Transport: &http.Transport{}}).Do(request)
		if err == nil {
			response.Body.Close()
		}
		done <- err
	}()
	return done, cancel
}

const forever = "sleep 600"

// TestRunsOfGoneClients: a client's runs end when it is gone.
func TestRunsOfGoneClients(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, f *fixture, a attended){
		"the stream of SSE is closed": func(t *testing.T, f *fixture, a attended) {
			c := dialSSE(t, f.serveHTTP(t))
			c.start(t, "tools/call", execParams(forever))
			a.begins(t)
			c.stop()
		},
		"a session is deleted": func(t *testing.T, f *fixture, a attended) {
			url := f.serveHTTP(t)
			headers := legacy(t, url)
			startHTTP(t, url+"/mcp", rpc(2, "tools/call", execParams(forever)), headers...)
			a.begins(t)
			send(t, http.MethodDelete, url+"/mcp", headers...)
		},
		"the response is closed in 2026-07-28": func(t *testing.T, f *fixture, a attended) {
			_, hangUp := startHTTP(t, f.serveHTTP(t)+"/mcp", rpc(2, "tools/call", modern(execParams(forever))), modernHeaders("tools/call", "exec")...)
			a.begins(t)
			hangUp()
		},
		"the response is closed in 2025-11-25, and nobody comes back": func(t *testing.T, f *fixture, a attended) {
			url := f.serveHTTP(t)
			_, hangUp := startHTTP(t, url+"/mcp", rpc(2, "tools/call", execParams(forever)), legacy(t, url)...)
			a.begins(t)
			hangUp()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, a := goneFixture(t)
			leave(t, f, a)
			if result := a.ends(t); result.Status != sandbox.Canceled {
				t.Errorf("the run ended as %v", result.Status)
			}
		})
	}
}

// TestDisconnectIsNoCancellation: before 2026-07-28, a run goes on when the
// connection that would have its answer breaks, while its client is there.
func TestDisconnectIsNoCancellation(t *testing.T) {
	t.Parallel()
	f, a := goneFixture(t)
	url := f.serveHTTP(t)
	headers := legacy(t, url)
	send(t, http.MethodGet, url+"/mcp", headers...)
	answered, hangUp := startHTTP(t, url+"/mcp", rpc(2, "tools/call", execParams("until [ -e go ]; do sleep 0.01; done")), headers...)
	workspace := a.begins(t)
	hangUp()
	<-answered
	for range 100 { // so that the server has seen it
		post(t, url+"/mcp", rpc(3, "ping", map[string]any{}), headers...)
	}
	must(t, os.WriteFile(filepath.Join(workspace, "go"), nil, 0o644))
	if result := a.ends(t); result.Status != sandbox.Exited || result.ExitCode != 0 {
		t.Errorf("the run ended as %v", result.Status)
	}
}

// TestCancelAcrossClients: a session's own cancellation ends its request, with
// or without a version header; nobody else's does, whatever it says.
func TestCancelAcrossClients(t *testing.T) {
	t.Parallel()
	f, a := goneFixture(t)
	url := f.serveHTTP(t)
	own, other := legacy(t, url), legacy(t, url)
	canceled := map[string]any{"requestId": 2, "reason": "x"}
	plain := map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": canceled}
	withMeta := map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": modern(canceled)}
	withNull := map[string]any{"jsonrpc": "2.0", "id": nil, "method": "notifications/cancelled", "params": modern(canceled)}
	const waits = "until [ -e go ]; do sleep 0.01; done"
	for _, request := range []struct {
		message any
		headers []string
	}{
		{rpc(2, "tools/call", execParams(waits)), own},
		{rpc(2, "tools/call", modern(execParams(waits))), modernHeaders("tools/call", "exec")},
	} {
		startHTTP(t, url+"/mcp", request.message, request.headers...)
		workspace := a.begins(t)
		for _, notification := range []struct {
			message any
			headers []string
		}{
			{plain, nil},
			{plain, other},
			{plain, modernHeaders("notifications/cancelled", "")},
			{withMeta, nil},
			{withMeta, modernHeaders("notifications/cancelled", "")},
			{withNull, modernHeaders("notifications/cancelled", "")},
		} {
			if response, body := post(t, url+"/mcp", notification.message, notification.headers...); response.StatusCode != http.StatusAccepted {
				t.Errorf("%v %v: %s %s", notification.message, notification.headers, response.Status, body)
			}
		}
		must(t, os.WriteFile(filepath.Join(workspace, "go"), nil, 0o644))
		if result := a.ends(t); result.Status != sandbox.Exited {
			t.Errorf("%v: somebody else's cancellation ended it: %v", request.headers, result.Status)
		}
	}
	for i, headers := range [][]string{own, own[:2]} {
		startHTTP(t, url+"/mcp", rpc(3+i, "tools/call", execParams(forever)), own...)
		a.begins(t)
		post(t, url+"/mcp", map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": 3 + i}}, headers...)
		if result := a.ends(t); result.Status != sandbox.Canceled {
			t.Errorf("%v: its own cancellation was not taken: %v", headers, result.Status)
		}
	}
}
