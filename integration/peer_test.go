package integration

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// connected is what a client knows once it is connected.
type connected struct {
	Server struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"server"`
	Instructions string `json:"instructions"`
	Revision     string `json:"revision"` // TypeScript's first line does not say
	// The Skills extension, as the TypeScript SDK's client finds it declared.
	Skills        bool `json:"skills"`
	DirectoryRead bool `json:"directoryRead"`
}

// notification is one that a client received.
type notification struct {
	Method string `json:"method"`
	Params struct {
		URI string `json:"uri"`
	} `json:"params"`
}

// progress is what a client was told of one of its calls.
type progress struct {
	ID      int    `json:"id"`
	Message string `json:"message"`
}

// peerLine is a line that the program with the client prints.
type peerLine struct {
	Connected    *connected      `json:"connected"`
	Notification *notification   `json:"notification"`
	Progress     *progress       `json:"progress"`
	ID           int             `json:"id"`
	Result       json.RawMessage `json:"result"`
	Error        *peerError      `json:"error"`
}

// peerError is an error that a client threw.
type peerError struct {
	Code    any    `json:"code"` // a JSON-RPC number, or a string where the client has one
	Message string `json:"message"`
	Data    struct {
		Code string `json:"code"`
	} `json:"data"`
}

func (e *peerError) Error() string { return fmt.Sprintf("%v: %s", e.Code, e.Message) }

// peer is a client in a process of its own. peer.mjs says what its program
// reads and writes; those of the other languages do the same.
type peer struct {
	*program.Process
	connected connected
	lines     *inbox[peerLine]
	lastID    int
}

// connect starts a server over the roots given, with execution switched on,
// and a client that is connected to it.
func connect(t *testing.T, c client, roots ...string) *peer {
	t.Helper()
	return connectAnswering(t, c, nil, roots...)
}

// connectAnswering is connect for a client that can ask its user, who gives
// these answers, unless there are none. Arguments may be flags, too.
func connectAnswering(t *testing.T, c client, answers []string, arguments ...string) *peer {
	t.Helper()
	return connectIn(t, program.Home(t), c, answers, arguments...)
}

// connectIn is connectAnswering in an environment of the test's own.
func connectIn(t *testing.T, env []string, c client, answers []string, arguments ...string) *peer {
	t.Helper()
	args := append([]string{"--sandbox=unsafe-host", "--log-level=warn"}, arguments...)
	plan := map[string]any{"client": c.module, "mode": "legacy"}
	if len(answers) > 0 {
		plan["answers"] = answers
	}
	if c.revision != "" {
		plan["mode"], plan["revision"] = "auto", c.revision
	}
	url := ""
	if c.transport != "stdio" {
		_, url = program.Serve(t, env, args...)
		url += map[string]string{"http": "/mcp", "sse": "/sse"}[c.transport]
	}
	stdio := func(command string, args ...string) map[string]any {
		return map[string]any{"command": command, "args": args, "env": program.Environ(env)}
	}
	switch {
	case c.bridge != nil:
		plan["stdio"] = stdio("node", slices.Concat([]string{bridgeScript, url}, c.bridge)...)
	case c.transport == "stdio":
		plan["stdio"] = stdio(program.Binary(t), args...)
	default:
		plan[c.transport] = url
	}
	return startPeer(t, env, c.command(t), plan)
}

func startPeer(t *testing.T, env, command []string, plan map[string]any) *peer {
	t.Helper()
	encoded, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{
		Process: program.Start(t, env, command[0], append(command[1:], string(encoded))...),
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

// request is a line to the client's program.
type request struct {
	ID       int    `json:"id"`
	Method   string `json:"method"`
	Args     []any  `json:"args,omitempty"`
	Progress bool   `json:"progress,omitempty"`
}

// send asks for a method of the client, to be answered under the ID returned.
func (p *peer) send(t *testing.T, r request) int {
	t.Helper()
	p.lastID++
	r.ID = p.lastID
	line, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdin.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	return r.ID
}

// answer waits for what a request led to and decodes its result into result,
// or returns what the client threw.
func (p *peer) answer(t *testing.T, id int, result any) error {
	t.Helper()
	answer := p.lines.take(t, fmt.Sprint("the answer to request ", id), func(l peerLine) bool { return l.ID == id })
	if answer.Error != nil {
		return answer.Error
	}
	if err := json.Unmarshal(answer.Result, result); err != nil {
		t.Fatalf("%v in %s", err, answer.Result)
	}
	return nil
}

// try calls a method of the client and decodes its result into result, or
// returns what the client threw.
func (p *peer) try(t *testing.T, result any, method string, args ...any) error {
	t.Helper()
	return p.answer(t, p.send(t, request{Method: method, Args: args}), result)
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
	p.lines.take(t, method+" "+uri, isNotification(method, uri))
}

func isNotification(method, uri string) func(l peerLine) bool {
	return func(l peerLine) bool {
		return l.Notification != nil && l.Notification.Method == method && l.Notification.Params.URI == uri
	}
}
