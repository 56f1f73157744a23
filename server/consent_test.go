package server_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// consentFixture is a server whose runs are to be allowed, with one skill.
func consentFixture(t *testing.T, options ...string) *fixture {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "greet/SKILL.md"), []byte("---\nname: greet\ndescription: Greets.\n---\nGreet.\n"))
	writeFile(t, filepath.Join(root, "greet/greet.sh"), []byte("#!/bin/sh\necho \"hello $1\"\n"))
	return newFixture(t, root, append(options, "approval.runs=ask")...)
}

// greeting is a run that is to be allowed.
var greeting = map[string]any{"name": "greet", "script": "greet.sh", "args": []string{"Ann"}}

// called is the answer to a call, or the question.
type called struct {
	answer
	ResultType    string
	InputRequests map[string]struct {
		Method string
		Params struct {
			Message         string
			RequestedSchema struct {
				Properties map[string]struct{ Enum []string }
			}
		}
	}
	RequestState string
}

// text is what the model reads.
func (c called) text() string {
	if len(c.Content) == 0 {
		return ""
	}
	return c.Content[0].Text
}

// code is that of a refusal, or empty.
func (c called) code() string {
	code, _, _ := strings.Cut(c.text(), ":")
	if !c.IsError {
		return ""
	}
	return code
}

// choices are those that the client is asked to offer.
func (c called) choices() []string {
	return c.InputRequests["consent"].Params.RequestedSchema.Properties["answer"].Enum
}

// accepts is what a client sends whose user chose.
func accepts(choice string) map[string]any {
	return map[string]any{"action": "accept", "content": map[string]any{"answer": choice}}
}

const (
	once    = "Allow once"
	session = "Allow for this session"
	always  = "Always allow for this version of the skill"
	decline = "Decline"
)

// callModern calls a tool over the stateless protocol; headers are of the
// caller.
func callModern(t *testing.T, url, tool string, arguments any, response any, state string, headers ...string) called {
	t.Helper()
	params := map[string]any{"name": tool, "arguments": arguments, "_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{"form": map[string]any{}}},
	}}
	if response != nil {
		params["inputResponses"] = map[string]any{"consent": response}
	}
	if state != "" {
		params["requestState"] = state
	}
	_, body := post(t, url+"/mcp", rpc(1, "tools/call", params), append(modernHeaders("tools/call", tool), headers...)...)
	return readCalled(t, body)
}

// readCalled reads an answer, alone or as the last event.
func readCalled(t *testing.T, body []byte) (c called) {
	t.Helper()
	if at := bytes.LastIndex(body, []byte("data: ")); at >= 0 {
		body = body[at+len("data: "):]
	}
	var r reply
	must(t, json.Unmarshal(body, &r))
	if r.Error != nil {
		t.Fatalf("error %d: %s", r.Error.Code, r.Error.Message)
	}
	must(t, json.Unmarshal(r.Result, &c))
	return c
}

// askModern has a question asked, and returns it.
func askModern(t *testing.T, url string, headers ...string) called {
	t.Helper()
	asked := callModern(t, url, "exec", greeting, nil, "", headers...)
	if asked.ResultType != "input_required" || asked.RequestState == "" {
		t.Fatalf("nobody is asked: %+v", asked)
	}
	return asked
}

// TestConsentTampered: a state in which any character is another is refused, and
// costs the genuine one nothing.
func TestConsentTampered(t *testing.T) {
	t.Parallel()
	url := consentFixture(t).serveHTTP(t)
	state := askModern(t, url).RequestState
	for i := range state {
		other := byte('A')
		if state[i] == other {
			other = 'B'
		}
		changed := state[:i] + string(other) + state[i+1:]
		if got := callModern(t, url, "exec", greeting, accepts(once), changed); got.code() != "consent_invalid" && got.code() != "consent_unknown" {
			t.Errorf("with character %d changed: %q", i, got.text())
		}
	}
	for name, changed := range map[string]string{
		"cut": state[:len(state)-1], "longer": state + "A", "padded": state + "=", "twice": state + state, "spaced": " " + state, "not encoded": "{}",
	} {
		if got := callModern(t, url, "exec", greeting, accepts(once), changed); got.code() != "consent_invalid" {
			t.Errorf("%s: %q", name, got.text())
		}
	}
	if got := callModern(t, url, "exec", greeting, accepts(once), state); !strings.Contains(got.text(), "hello Ann") {
		t.Errorf("the genuine one: %q", got.text())
	}
}

// TestConsentForeign: an answer is one of this caller, to this call, in this
// process.
func TestConsentForeign(t *testing.T) {
	t.Parallel()
	f := consentFixture(t, "toolset=workspace")
	url := f.serveHTTP(t)
	command := map[string]any{"name": "greet", "command": "echo hi"}
	alice := []string{"Authorization", "Bearer alice"}
	for _, test := range []struct {
		name, tool string
		arguments  any
		headers    []string
		code       string
	}{
		{"another caller", "exec", command, []string{"Authorization", "Bearer bob"}, "consent_mismatch"},
		{"no caller", "exec", command, nil, "consent_mismatch"},
		{"another tool with the same arguments", "bash_tool", command, alice, "consent_mismatch"},
		{"other arguments", "exec", map[string]any{"name": "greet", "command": "echo ho"}, alice, "consent_mismatch"},
		{"an argument more", "exec", map[string]any{"name": "greet", "command": "echo hi", "stdin": ""}, alice, "consent_mismatch"},
		{"the same", "exec", map[string]any{"command": "echo hi", "name": "greet"}, alice, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			asked := callModern(t, url, "exec", command, nil, "", alice...)
			got := callModern(t, url, test.tool, test.arguments, accepts(once), asked.RequestState, test.headers...)
			if got.code() != test.code {
				t.Errorf("%q, want %q", got.text(), test.code)
			}
		})
	}
	t.Run("a session of another protocol version", func(t *testing.T) {
		t.Parallel()
		state := callModern(t, url, "exec", command, nil, "", alice...).RequestState
		_, body := post(t, url+"/mcp", rpc(2, "tools/call", map[string]any{"name": "exec", "arguments": command,
			"inputResponses": map[string]any{"consent": accepts(once)}, "requestState": state}), append(legacy(t, url), alice...)...)
		if got := readCalled(t, body); got.code() != "consent_mismatch" {
			t.Errorf("%q", got.text())
		}
	})
	t.Run("another process", func(t *testing.T) {
		t.Parallel()
		other := newFixture(t, f.root, "approval.runs=ask").serveHTTP(t)
		state := callModern(t, url, "exec", command, nil, "", alice...).RequestState
		if got := callModern(t, other, "exec", command, accepts(once), state, alice...); got.code() != "consent_unknown" || !strings.Contains(got.text(), "asked again") {
			t.Errorf("%q", got.text())
		}
		if again := callModern(t, other, "exec", command, nil, "", alice...); again.RequestState == "" {
			t.Errorf("it does not ask again: %q", again.text())
		}
	})
}

// TestConsentAlways: what is allowed for always holds in every server of the
// user, for one version of the skill; a session is offered only where there is
// one.
func TestConsentAlways(t *testing.T) {
	t.Parallel()
	f := consentFixture(t)
	url := f.serveHTTP(t)
	asked := askModern(t, url)
	if want := []string{once, always, decline}; !slices.Equal(asked.choices(), want) {
		t.Errorf("the choices are %q, want %q", asked.choices(), want)
	}
	if got := callModern(t, url, "exec", greeting, accepts(session), asked.RequestState); got.code() != "consent_unclear" {
		t.Errorf("a choice that was not offered: %q", got.text())
	}
	if got := callModern(t, url, "exec", greeting, accepts(always), askModern(t, url).RequestState); !strings.Contains(got.text(), "hello Ann") {
		t.Fatalf("%q", got.text())
	}
	bob := map[string]any{"name": "greet", "script": "greet.sh", "args": []string{"Bob"}}
	if got := callModern(t, url, "exec", bob, nil, "", "Authorization", "other"); !strings.Contains(got.text(), "hello Bob") {
		t.Errorf("with other arguments and another caller: %q", got.text())
	}
	second := newFixture(t, f.root, "approval.runs=ask", "answers="+f.answers).serveHTTP(t)
	if got := callModern(t, second, "exec", bob, nil, ""); !strings.Contains(got.text(), "hello Bob") {
		t.Errorf("in another server: %q", got.text())
	}
	for name, arguments := range map[string]map[string]any{
		"a command": {"name": "greet", "command": "./greet.sh Bob"},
		"no skill":  {"name": "greet", "command": "echo"},
	} {
		if got := callModern(t, url, "exec", arguments, nil, ""); got.RequestState == "" {
			t.Errorf("%s is allowed, too: %q", name, got.text())
		}
	}
	script := filepath.Join(f.root, "greet/greet.sh")
	writeFile(t, script, []byte("#!/bin/sh\necho changed\n"))
	if got := callModern(t, url, "exec", bob, nil, ""); got.RequestState == "" {
		t.Errorf("another version of the skill runs: %q", got.text())
	}
	writeFile(t, script, []byte("#!/bin/sh\necho \"hello $1\"\n"))
	for name, at := range map[string]string{"here": url, "in another server": second} {
		if got := callModern(t, at, "exec", bob, nil, ""); got.RequestState == "" {
			t.Errorf("%s the answer came back with the old version: %q", name, got.text())
		}
	}
}

// TestConsentGivenUp: of too many questions of one caller the oldest can be
// answered no more, those of others can.
func TestConsentGivenUp(t *testing.T) {
	t.Parallel()
	url := consentFixture(t).serveHTTP(t)
	other := askModern(t, url, "Authorization", "other").RequestState
	var states []string
	for range 33 {
		states = append(states, askModern(t, url).RequestState)
	}
	for i, code := range map[int]string{0: "consent_used", 1: "", 32: ""} {
		if got := callModern(t, url, "exec", greeting, accepts(once), states[i]); got.code() != code {
			t.Errorf("question %d: %q", i, got.text())
		}
	}
	if got := callModern(t, url, "exec", greeting, accepts(once), other, "Authorization", "other"); got.code() != "" {
		t.Errorf("another caller's: %q", got.text())
	}
}

// TestConsentShowsAll: what a model gives a program is shown, with nothing
// hidden in it, and none of it looks like a line of the server's.
func TestConsentShowsAll(t *testing.T) {
	t.Parallel()
	url := consentFixture(t).serveHTTP(t)
	message := func(arguments map[string]any) string {
		t.Helper()
		return callModern(t, url, "exec", arguments, nil, "").InputRequests["consent"].Params.Message
	}
	shown := message(map[string]any{"name": "greet", "command": "echo safe\nSkill: other\n\u001b[2Kcurl \u202Eevil" + strings.Repeat(" ", 500) + "rm -r x"})
	for _, want := range []string{"\n    | Skill: other\n", `\u001b[2Kcurl \u202eevil`, " rm -r x\n", "sandbox: unsafe-host (tier none)"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is not in %q", want, shown)
		}
	}
	if strings.ContainsAny(shown, "\u001b\u202e\r") {
		t.Errorf("what does not show itself is in %q", shown)
	}
	long := message(map[string]any{"name": "greet", "script": "greet.sh", "args": []string{strings.Repeat("long ", 10_000)}})
	if len(long) > 12<<10 || !strings.Contains(long, "bytes more are not shown") {
		t.Errorf("%d bytes are shown, ending in %q", len(long), long[max(0, len(long)-300):])
	}
}

// TestConsentOverHTTPSession: before 2026-07-28 the question comes on the call's
// own stream, and is answered in its session.
func TestConsentOverHTTPSession(t *testing.T) {
	t.Parallel()
	url := consentFixture(t).serveHTTP(t)
	mine, other := askingSession(t, url), askingSession(t, url)
	call := startCall(t, url, mine)
	question := call.next(t)
	if question.Method != "elicitation/create" {
		t.Fatalf("instead of a question came %+v", question)
	}
	response := map[string]any{"jsonrpc": "2.0", "id": question.ID, "result": accepts(once)}
	if got, _ := post(t, url+"/mcp", response, other...); got.StatusCode == http.StatusAccepted {
		t.Errorf("another session's answer is taken: %s", got.Status)
	}
	if got, body := post(t, url+"/mcp", response, mine...); got.StatusCode != http.StatusAccepted {
		t.Fatalf("the answer is not taken: %s %s", got.Status, body)
	}
	var result called
	must(t, json.Unmarshal(call.next(t).Result, &result))
	if !strings.Contains(result.text(), "hello Ann") {
		t.Errorf("%q", result.text())
	}
}

// TestConsentSessionEnds: a call that waits for an answer ends with its session.
func TestConsentSessionEnds(t *testing.T) {
	t.Parallel()
	url := consentFixture(t).serveHTTP(t)
	mine := askingSession(t, url)
	call := startCall(t, url, mine)
	call.next(t)
	must(t, send(t, http.MethodDelete, url+"/mcp", mine...).Body.Close())
	if _, err := io.ReadAll(call.body); err != nil {
		t.Errorf("the call's stream ends with %v", err)
	}
}

// askingSession opens a session of a client that can ask.
func askingSession(t *testing.T, url string) (headers []string) {
	t.Helper()
	response, _ := post(t, url+"/mcp", rpc(1, "initialize", asking))
	headers = []string{"Mcp-Session-Id", response.Header.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-11-25"}
	post(t, url+"/mcp", map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, headers...)
	return headers
}

// asking is the handshake of a client that can ask.
var asking = map[string]any{
	"protocolVersion": "2025-11-25", "capabilities": map[string]any{"elicitation": map[string]any{}},
	"clientInfo": map[string]any{"name": "test", "version": "1"},
}

// stream is the stream of one call.
type stream struct {
	body   io.Reader
	events *bufio.Scanner
}

// startCall calls a tool that asks, in a session.
func startCall(t *testing.T, url string, headers []string) *stream {
	t.Helper()
	return startExec(t, url, headers, greeting)
}

// startExec calls exec in a session.
func startExec(t *testing.T, url string, headers []string, arguments map[string]any) *stream {
	t.Helper()
	body, err := json.Marshal(rpc(2, "tools/call", map[string]any{"name": "exec", "arguments": arguments}))
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/mcp", bytes.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	t.Cleanup(func() { response.Body.Close() })
	events := bufio.NewScanner(response.Body)
	events.Buffer(nil, 64<<20)
	return &stream{response.Body, events}
}

// sent is a message of the server's.
type sent struct {
	reply
	Method string
	Params json.RawMessage
}

// next returns the next message on the stream.
func (s *stream) next(t *testing.T) (m sent) {
	t.Helper()
	must(t, json.Unmarshal([]byte(nextData(t, s.events)), &m))
	return m
}

// TestConsentOverSSE: on the transport of 2024-11-05 too.
func TestConsentOverSSE(t *testing.T) {
	t.Parallel()
	c := openSSE(t, consentFixture(t).serveHTTP(t))
	c.ask(t, "initialize", asking)
	post(t, c.endpoint, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	for i, test := range []struct{ choice, want string }{{decline, "Not done"}, {session, "hello Ann"}, {"", "hello Ann"}} {
		result := c.start(t, "tools/call", map[string]any{"name": "exec", "arguments": greeting})
		if test.choice != "" {
			var question sent
			must(t, json.Unmarshal([]byte(<-c.told), &question))
			post(t, c.endpoint, map[string]any{"jsonrpc": "2.0", "id": question.ID, "result": accepts(test.choice)})
		}
		if got := readCalled(t, <-result); !strings.Contains(got.text(), test.want) {
			t.Errorf("call %d: %q", i, got.text())
		}
	}
}

// TestConsentHoldsNothing: where more calls wait for an answer than programs may
// run and wait, other runs go on.
func TestConsentHoldsNothing(t *testing.T) {
	t.Parallel()
	f := consentFixture(t, "runs=1", "workspaces=1")
	url := f.serveHTTP(t)
	session := askingSession(t, url)
	var calls []*stream
	for range 10 {
		call := startCall(t, url, session)
		call.next(t)
		calls = append(calls, call)
	}
	got := callModern(t, url, "exec", greeting, accepts(once), askModern(t, url).RequestState)
	if !strings.Contains(got.text(), "hello Ann") {
		t.Errorf("beside %d that wait: %q", len(calls), got.text())
	}
}

// TestConsentManyAtOnce: many calls of many callers are asked about and answered
// at once, each by its own answer.
func TestConsentManyAtOnce(t *testing.T) {
	t.Parallel()
	url := consentFixture(t).serveHTTP(t)
	done := make(chan error)
	const callers = 16
	for i := range callers {
		go func() {
			caller := []string{"Authorization", fmt.Sprint("caller ", i)}
			state := askModern(t, url, caller...).RequestState
			choice, want := once, "hello Ann"
			if i%2 == 1 {
				choice, want = decline, "Not done"
			}
			var err error
			if got := callModern(t, url, "exec", greeting, accepts(choice), state, caller...); !strings.Contains(got.text(), want) {
				err = fmt.Errorf("caller %d, who answered %q: %q", i, choice, got.text())
			}
			done <- err
		}()
	}
	for range callers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestConsentInProcess: a call without a client cannot ask, and a command line
// gets the way out.
func TestConsentInProcess(t *testing.T) {
	t.Parallel()
	called, err := consentFixture(t).server.Call(t.Context(), "exec", json.RawMessage(`{"name": "greet", "command": "echo hi"}`))
	if err != nil || !called.IsError || !strings.Contains(called.Text, "consent_unavailable") || !strings.Contains(called.Text, "approval.runs: free") {
		t.Errorf("%+v, %v", called, err)
	}
}

// TestConsentToArchives: an answer for always is to the skill in the archive, and
// not to the directory that one server extracted it to.
func TestConsentToArchives(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	pack(t, filepath.Join(root, "greet.skill"), map[string]string{
		"SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nGreet.\n",
		"greet.sh": "#!/bin/sh\necho \"hello $1\"\n",
	})
	f := newFixture(t, root, "approval.runs=ask")
	url := f.serveHTTP(t)
	if got := callModern(t, url, "exec", greeting, accepts(always), askModern(t, url).RequestState); !strings.Contains(got.text(), "hello Ann") {
		t.Fatalf("%q", got.text())
	}
	second := newFixture(t, root, "approval.runs=ask", "answers="+f.answers).serveHTTP(t)
	if got := callModern(t, second, "exec", greeting, nil, ""); !strings.Contains(got.text(), "hello Ann") {
		t.Errorf("another server asks again: %q", got.text())
	}
	pack(t, filepath.Join(root, "greet.skill"), map[string]string{
		"SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nGreet.\n",
		"greet.sh": "#!/bin/sh\necho \"farewell $1\"\n",
	})
	if got := callModern(t, newFixture(t, root, "approval.runs=ask", "answers="+f.answers).serveHTTP(t), "exec", greeting, nil, ""); got.RequestState == "" {
		t.Errorf("another version of the archive runs: %q", got.text())
	}
}

// pack writes an archive of files.
func pack(t *testing.T, name string, files map[string]string) {
	t.Helper()
	var packed bytes.Buffer
	archive := zip.NewWriter(&packed)
	for name, text := range files {
		file, err := archive.Create(name)
		must(t, err)
		_, err = file.Write([]byte(text))
		must(t, err)
	}
	must(t, archive.Close())
	writeFile(t, name, packed.Bytes())
}
