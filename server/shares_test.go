package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/queue"
)

// execHTTP runs a command of the skill note over HTTP. Headers are those of a
// session; without them the request stands alone.
func execHTTP(t *testing.T, url, command string, headers ...string) reply {
	t.Helper()
	params := map[string]any{"name": "exec", "arguments": map[string]any{"name": "note", "command": command}}
	if len(headers) == 0 {
		params, headers = modern(params), modernHeaders("tools/call", "exec")
	}
	_, body := post(t, url+"/mcp", rpc(1, "tools/call", params), headers...)
	var r reply
	must(t, json.Unmarshal(body, &r))
	return r
}

// TestWorkspacesOfOthers: however many workspaces stateless calls make, a
// session keeps its own.
func TestWorkspacesOfOthers(t *testing.T) {
	t.Parallel()
	needBash(t)
	const most = 8
	f := newFixture(t, noteFixture(t).root, fmt.Sprintf("workspaces=%d", most))
	url := f.serveHTTP(t)
	session := legacy(t, url)
	if run := decodeRan(t, execHTTP(t, url, "echo mine > file", session...)); run.exit() != 0 {
		t.Fatalf("%+v", run)
	}
	for range most + 1 {
		f.advance(time.Millisecond)
		decodeRan(t, execHTTP(t, url, "true"))
	}
	if run := decodeRan(t, execHTTP(t, url, "cat file", session...)); run.Stdout != "mine\n" {
		t.Errorf("after a flood of stateless calls: %+v", run)
	}
	if handles, err := filepath.Glob(filepath.Join(f.workspaceBase, "*", "ws-*")); err != nil || len(handles) > most+1 {
		t.Errorf("%d workspaces are there, %v", len(handles), err) // one may be on its way out
	}
}

// TestQueueOfOthers: where one session's calls fill the queue, another's still
// finds a place in it.
func TestQueueOfOthers(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := noteFixture(t).root
	f := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend {
		return queue.New(plain, queue.Options{Running: 1, Waiting: 2})
	})
	url := f.serveHTTP(t)
	c := f.connect(t) // whose calls these are
	first := c.startHang(t)
	waiting := make(chan reply, 3)
	for range cap(waiting) {
		answer := c.startExec(t, "note", map[string]any{"command": "true"})
		go func() { waiting <- <-answer }()
	}
	refused := func(what string) {
		t.Helper()
		if a := decodeAnswer(t, "exec", c.await(t, waiting, what)); a.code() != "sandbox_busy" {
			t.Fatalf("%s: %s", what, a.text())
		}
	}
	refused("one too many")
	session := legacy(t, url)
	other := make(chan reply, 1)
	go func() { other <- execHTTP(t, url, "echo other", session...) }()
	refused("the one whose place was taken")
	c.cancel(t, first)
	if run := decodeRan(t, c.await(t, other, "the other's call")); run.Stdout != "other\n" {
		t.Errorf("the other's call: %+v", run)
	}
}
