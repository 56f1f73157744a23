package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// modern is the protocol revision without an initialize handshake.
const modern = "2026-07-28"

// sdk is one way in which the official TypeScript SDK speaks to a server.
type sdk struct {
	name      string
	Version   string `json:"sdk"`                // v1 or v2, its two major lines
	Revision  string `json:"revision,omitempty"` // pinned; empty means the initialize handshake
	transport string // stdio, http or sse
}

// sdks are the combinations that hosts built on the SDK use.
var sdks = []sdk{
	{"v1 over stdio", "v1", "", "stdio"},
	{"v1 over streamable HTTP", "v1", "", "http"},
	{"v1 over SSE", "v1", "", "sse"},
	{"v2 over stdio", "v2", "", "stdio"},
	{"v2 over streamable HTTP", "v2", "", "http"},
	{"v2 with " + modern + " over stdio", "v2", modern, "stdio"},
	{"v2 with " + modern + " over streamable HTTP", "v2", modern, "http"},
}

// forEach runs a test once for each of the SDKs, in parallel. It skips where
// Node.js is missing.
func forEach(t *testing.T, sdks []sdk, test func(t *testing.T, s sdk)) {
	t.Parallel()
	require(t, "node")
	for _, s := range sdks {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			test(t, s)
		})
	}
}

// connected is what the SDK's client knows once it is connected.
type connected struct {
	Server struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"server"`
	Capabilities  map[string]json.RawMessage `json:"capabilities"`
	Instructions  string                     `json:"instructions"`
	Revision      string                     `json:"revision"` // v2 only
	Skills        bool                       `json:"skills"`
	DirectoryRead bool                       `json:"directoryRead"`
}

// notification is one that the SDK's client received.
type notification struct {
	Method string `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`
}

// peerLine is a line that the driver script prints.
type peerLine struct {
	Connected    *connected      `json:"connected"`
	Notification *notification   `json:"notification"`
	ID           int             `json:"id"`
	Result       json.RawMessage `json:"result"`
	Error        *peerError      `json:"error"`
}

// peerError is an error that the SDK's client threw.
type peerError struct {
	Code    any    `json:"code"` // a JSON-RPC number or an SDK string
	Message string `json:"message"`
}

func (e *peerError) Error() string { return fmt.Sprintf("%v: %s", e.Code, e.Message) }

// peer is a client of the official SDK in a process of its own.
type peer struct {
	*program.Process
	connected connected
	lines     *inbox[peerLine]
	lastID    int
}

// connect starts a server over the roots given, with execution switched on,
// and an SDK client that is connected to it.
func connect(t *testing.T, s sdk, roots ...string) *peer {
	t.Helper()
	env := program.Home(t)
	args := append([]string{"--sandbox=unsafe-host", "--log-level=warn"}, roots...)
	plan := map[string]any{"sdk": s.Version, "revision": s.Revision}
	switch s.transport {
	case "stdio":
		plan["stdio"] = map[string]any{"command": program.Binary(t), "args": args, "env": program.Environ(env)}
	case "http":
		_, url := program.Serve(t, env, args...)
		plan["http"] = url + "/mcp"
	case "sse":
		_, url := program.Serve(t, env, args...)
		plan["sse"] = url + "/sse"
	}
	return startPeer(t, env, plan)
}

func startPeer(t *testing.T, env []string, plan map[string]any) *peer {
	t.Helper()
	encoded, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{
		Process: program.Start(t, env, "node", nodeDir+"/peer.mjs", string(encoded)),
		lines:   newInbox[peerLine](),
	}
	go p.read()
	p.connected = *p.lines.take(t, "a connection", func(l peerLine) bool { return l.Connected != nil }).Connected
	return p
}

func (p *peer) read() {
	defer p.lines.end()
	lines := json.NewDecoder(bufio.NewReader(p.Stdout))
	for {
		var line peerLine
		if err := lines.Decode(&line); err != nil {
			return
		}
		p.lines.put(line)
	}
}

// try calls a method of the SDK's client and decodes its result into result,
// or returns what the client threw.
func (p *peer) try(t *testing.T, result any, method string, args ...any) error {
	t.Helper()
	p.lastID++
	id := p.lastID
	line, err := json.Marshal(map[string]any{"id": id, "method": method, "args": args})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdin.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	answer := p.lines.take(t, "the result of "+method, func(l peerLine) bool { return l.ID == id })
	if answer.Error != nil {
		return answer.Error
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		t.Fatalf("%s: %v in %s", method, err, answer.Result)
	}
	return nil
}

// call is try for what must not fail.
func (p *peer) call(t *testing.T, result any, method string, args ...any) {
	t.Helper()
	if err := p.try(t, result, method, args...); err != nil {
		t.Fatalf("%s(%v): %v", method, args, err)
	}
}

// tool calls a tool, which may fail with isError.
func (p *peer) tool(t *testing.T, name string, arguments map[string]any) toolResult {
	t.Helper()
	var result toolResult
	p.call(t, &result, "callTool", map[string]any{"name": name, "arguments": arguments})
	return result
}

// resource reads a resource, past the SDK's cache, and returns its one content.
func (p *peer) resource(t *testing.T, uri string) resourceContents {
	t.Helper()
	var result readResult
	p.call(t, &result, "readResource", map[string]any{"uri": uri}, map[string]any{"cacheMode": "refresh"})
	if len(result.Contents) != 1 {
		t.Fatalf("%s: %d contents, want 1", uri, len(result.Contents))
	}
	return result.Contents[0]
}

// list returns every item of one of the server's lists, all pages.
func (p *peer) list(t *testing.T, method, field string) []named {
	t.Helper()
	var all []named
	params := map[string]any{}
	for {
		var page map[string]json.RawMessage
		p.call(t, &page, method, maps.Clone(params))
		var items []named
		if err := json.Unmarshal(page[field], &items); err != nil {
			t.Fatal(err)
		}
		all = append(all, items...)
		var cursor string
		if page["nextCursor"] == nil || json.Unmarshal(page["nextCursor"], &cursor) != nil {
			return all
		}
		params["cursor"] = cursor
	}
}

// notified waits for a notification, about one resource where uri is set.
func (p *peer) notified(t *testing.T, method, uri string) {
	t.Helper()
	p.lines.take(t, method+" "+uri, func(l peerLine) bool {
		return l.Notification != nil && l.Notification.Method == method && l.Notification.Params.URI == uri
	})
}
