package server_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// sseClient is a client of the transport of 2024-11-05.
type sseClient struct {
	endpoint string
	told     chan string // notifications
	stop     func()

	mu      sync.Mutex
	last    int
	waiting map[string]chan []byte // by id
}

// openSSE opens a stream, without a handshake.
func openSSE(t *testing.T, url string) *sseClient {
	t.Helper()
	stream := send(t, http.MethodGet, url+"/sse")
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("stream: %s", stream.Status)
	}
	events := bufio.NewScanner(stream.Body)
	events.Buffer(nil, 64<<20)
	c := &sseClient{endpoint: url + nextData(t, events), told: make(chan string, 10_000), waiting: map[string]chan []byte{},
		stop: func() { stream.Body.Close() }}
	go func() {
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				c.take(data)
			}
		}
	}()
	return c
}

// dialSSE opens a stream and shakes hands.
func dialSSE(t *testing.T, url string) *sseClient {
	t.Helper()
	c := openSSE(t, url)
	c.ask(t, "initialize", initialize)
	post(t, c.endpoint, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c
}

func (c *sseClient) take(data string) {
	var r struct {
		reply
		Method string
	}
	_ = json.Unmarshal([]byte(data), &r)
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting := c.waiting[string(r.ID)]; waiting != nil && r.Method == "" {
		waiting <- []byte(data)
		return
	}
	c.told <- data
}

// start asks and does not wait.
func (c *sseClient) start(t *testing.T, method string, params any) <-chan []byte {
	t.Helper()
	answer := make(chan []byte, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[strconv.Itoa(id)] = answer
	c.mu.Unlock()
	if response, body := post(t, c.endpoint, rpc(id, method, params)); response.StatusCode != http.StatusAccepted {
		t.Fatalf("%s: %s %s", method, response.Status, body)
	}
	return answer
}

func (c *sseClient) ask(t *testing.T, method string, params any) (answer []byte) {
	t.Helper()
	select {
	case answer = <-c.start(t, method, params):
	case <-time.After(patience):
		t.Fatalf("no answer came to %s", method)
	}
	return answer
}

// TestSSEIsRouted: what the router answers on the legacy transport is what it
// answers over streamable HTTP: the extension's methods, and errors with their
// codes.
func TestSSEIsRouted(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	session, c := legacy(t, url), dialSSE(t, url)
	for _, test := range []struct {
		method string
		params map[string]any
	}{
		{"skills/list", map[string]any{}},
		{"skills/get", map[string]any{"uri": "skill://unit-convert/SKILL.md"}},
		{"skills/get", map[string]any{"uri": "skill://nobody/SKILL.md"}},
		{"resources/directory/read", map[string]any{"uri": "skill://unit-convert"}},
		{"resources/directory/read", map[string]any{"uri": "skill://unit-convert/none"}},
		{"resources/read", map[string]any{"uri": "skill://unit-convert/SKILL.md"}},
		{"resources/read", map[string]any{"uri": "skill://nobody/SKILL.md"}},
		{"prompts/get", map[string]any{"name": "nobody"}},
		{"tools/list", map[string]any{}},
		{"no/such/method", map[string]any{}},
	} {
		_, want := post(t, url+"/mcp", rpc(1, test.method, test.params), session...)
		if diff := cmp.Diff(decoded(t, want), decoded(t, c.ask(t, test.method, test.params))); diff != "" {
			t.Errorf("%s %v (-streamable HTTP +SSE):\n%s", test.method, test.params, diff)
		}
	}
}

// decoded is an answer without its id.
func decoded(t *testing.T, answer []byte) map[string]any {
	t.Helper()
	var message map[string]any
	if err := json.Unmarshal(answer, &message); err != nil {
		t.Fatalf("%v in %s", err, answer)
	}
	delete(message, "id")
	return message
}

// TestSSEOfTheStatelessProtocol: a client that speaks it here, too, is told of
// what it asked for, tagged with the request that asked, and of nothing else.
func TestSSEOfTheStatelessProtocol(t *testing.T) {
	t.Parallel()
	f := reloadFixture(t)
	c := openSSE(t, f.serveHTTP(t))
	c.listenModern(t, map[string]any{"resourcesListChanged": true})
	var heard []string
	edit(t, f.newSkill(t), func() bool {
		select {
		case line := <-c.told:
			heard = append(heard, line)
			return strings.Contains(line, "notifications/resources/list_changed")
		case <-time.After(time.Second / 2):
			return false
		}
	})
	c.ask(t, "tools/list", modern(nil))
	for len(c.told) > 0 {
		heard = append(heard, <-c.told)
	}
	for _, line := range heard {
		if !strings.Contains(line, "notifications/resources/list_changed") || !strings.Contains(line, `"io.modelcontextprotocol/subscriptionId":1`) {
			t.Errorf("not asked for, or not tagged: %s", line)
		}
	}
}

// listenModern asks to listen, and waits for the acknowledgement.
func (c *sseClient) listenModern(t *testing.T, filter map[string]any) {
	t.Helper()
	c.start(t, "subscriptions/listen", modern(map[string]any{"notifications": filter}))
	(&listener{heard: c.told}).acknowledged(t)
}

// TestSSEOrigins: no page of another origin is let in, neither to the stream
// nor to its messages.
func TestSSEOrigins(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	for _, origin := range []string{"", "http://localhost:3000"} {
		response := send(t, http.MethodGet, url+"/sse", "Origin", origin)
		for name := range response.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("with Origin %q: %s is sent", origin, name)
			}
		}
	}
	for _, headers := range [][]string{{"Origin", "https://evil.example"}, {"Host", "evil.example"}} {
		if response, _ := post(t, openSSE(t, url).endpoint, rpc(1, "initialize", initialize), headers...); response.StatusCode != http.StatusForbidden {
			t.Errorf("%q: %s", headers, response.Status)
		}
	}
}

// TestSSEMessagesWithoutSession: messages for no session, or that are none,
// are refused.
func TestSSEMessagesWithoutSession(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	c := dialSSE(t, url)
	for _, test := range []struct {
		endpoint string
		message  any
		status   int
	}{
		{url + "/message", rpc(1, "ping", nil), http.StatusNotFound},
		{url + "/message?sessionId=nobody", rpc(1, "ping", nil), http.StatusNotFound},
		{c.endpoint, []byte("{"), http.StatusBadRequest},
		{c.endpoint, []byte("\xff"), http.StatusBadRequest},
		{c.endpoint, rpc(1, "ping", nil), http.StatusAccepted},
	} {
		if response, body := post(t, test.endpoint, test.message); response.StatusCode != test.status {
			t.Errorf("%v to %s: %s %s", test.message, test.endpoint, response.Status, body)
		}
	}
}

// TestPromptsOfUnknownNames: prompts/get of a name that no skill has says
// which code that is, on every transport and in both eras.
func TestPromptsOfUnknownNames(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testdata.Valid())
	url := f.serveHTTP(t)
	session, stdio, sse := legacy(t, url), f.connect(t), dialSSE(t, url)
	for transport, ask := range map[string]func(params map[string]any) []byte{
		"stdio legacy": func(params map[string]any) []byte {
			answer, err := json.Marshal(stdio.ask(t, "prompts/get", params))
			must(t, err)
			return answer
		},
		"stdio modern": func(params map[string]any) []byte {
			line, err := json.Marshal(rpc(1, "prompts/get", modern(params)))
			must(t, err)
			return newFixture(t, testdata.Valid()).exchangeRaw(t, line)
		},
		"HTTP legacy": func(params map[string]any) []byte {
			_, body := post(t, url+"/mcp", rpc(1, "prompts/get", params), session...)
			return body
		},
		"HTTP modern": func(params map[string]any) []byte {
			_, body := post(t, url+"/mcp", rpc(1, "prompts/get", modern(params)), modernHeaders("prompts/get", params["name"].(string))...)
			return body
		},
		"SSE": func(params map[string]any) []byte { return sse.ask(t, "prompts/get", params) },
	} {
		var r struct {
			Error *struct {
				Code int
				Data struct{ Code, Hint string }
			}
		}
		answer := ask(map[string]any{"name": "unit-convertt"})
		must(t, json.Unmarshal(answer, &r))
		if r.Error == nil || r.Error.Code != -32602 || r.Error.Data.Code != "skill_not_found" || !strings.Contains(r.Error.Data.Hint, "unit-convert") {
			t.Errorf("%s: %s", transport, answer)
		}
	}
}

// TestSSESilentClient: a client that asks and never reads is refused more
// after a while, and costs nobody else.
func TestSSESilentClient(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	stream := send(t, http.MethodGet, url+"/sse")
	events := bufio.NewScanner(stream.Body)
	endpoint := url + nextData(t, events)
	post(t, endpoint, rpc(0, "initialize", initialize))
	var statuses []int
	for id := range 20_000 {
		response, _ := post(t, endpoint, rpc(id+1, "tools/list", map[string]any{}))
		if statuses = append(statuses, response.StatusCode); response.StatusCode != http.StatusAccepted {
			break
		}
	}
	if last := len(statuses) - 1; statuses[last] != http.StatusTooManyRequests || !slices.Contains(statuses, http.StatusAccepted) {
		t.Errorf("after %d requests: %d", last, statuses[last])
	}
	if answer := dialSSE(t, url).ask(t, "ping", map[string]any{}); !strings.Contains(string(answer), "result") {
		t.Errorf("another client: %s", answer)
	}
}

// TestSSE: the legacy pair of endpoints works.
func TestSSE(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/sse", nil)
	must(t, err)
	stream, err := http.DefaultClient.Do(request)
	must(t, err)
	defer stream.Body.Close()
	events := bufio.NewScanner(stream.Body)
	events.Buffer(nil, 1<<20)
	endpoint := nextData(t, events)
	post(t, url+endpoint, rpc(1, "initialize", map[string]any{
		"protocolVersion": "2024-11-05", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "old", "version": "1"}}))
	if data := nextData(t, events); !strings.Contains(data, `"protocolVersion":"2024-11-05"`) {
		t.Errorf("answer to initialize: %s", data)
	}
	post(t, url+endpoint, rpc(2, "tools/call", map[string]any{"name": "findSkills", "arguments": map[string]any{}}))
	if data := nextData(t, events); !strings.Contains(data, "skills-system-validation") {
		t.Errorf("answer to findSkills: %s", data)
	}
}
