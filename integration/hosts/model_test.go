package hosts

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// toolUse is a tool that the scripted model wants to use.
type toolUse struct {
	name  string // without the prefix of the MCP server
	input map[string]any
}

// turn is what the model does next, when it has seen the results of all that
// it did before, in order. Tools of one turn may run at the same time.
type turn func(results []block) []toolUse

// use is a turn that needs no results.
func use(tools ...toolUse) turn {
	return func([]block) []toolUse { return tools }
}

// lastWords end every script.
const lastWords = "The script is over."

// model stands in for the model behind Claude Code: it serves the Messages
// API on loopback, follows a script and remembers what it was told. It decides
// by the conversation it is sent, so that a repeated request is harmless.
//
// It is also the host's proxy for everything that is not on loopback, and
// refuses.
type model struct {
	t      *testing.T
	server *httptest.Server
	script []turn

	mu       sync.Mutex
	requests []messagesRequest
	escapes  []string // what the host tried to reach outside
	unknown  []string // requests that are no part of the Messages API
}

// newModel starts a stand-in. At the end the test fails if the host tried to
// reach anything but it and the MCP server.
func newModel(t *testing.T, script ...turn) *model {
	t.Helper()
	m := &model{t: t, script: script}
	m.server = httptest.NewServer(m)
	t.Cleanup(func() {
		m.server.Close()
		if len(m.escapes) > 0 {
			t.Errorf("the host tried to reach %q", m.escapes)
		}
		if t.Failed() {
			t.Logf("requests that the stand-in does not know: %q", m.unknown)
		}
	})
	return m
}

// environment points a host to the stand-in, and away from everything else.
func (m *model) environment() []string {
	var env []string
	for _, proxy := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, proxy+"="+m.server.URL, strings.ToLower(proxy)+"="+m.server.URL)
	}
	return append(env, "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "ANTHROPIC_BASE_URL="+m.server.URL)
}

// ServeHTTP answers the host.
func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case r.Method == http.MethodConnect || r.URL.IsAbs():
		m.escapes = append(m.escapes, r.Method+" "+r.RequestURI)
		http.Error(w, "nothing but loopback", http.StatusForbidden)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages/count_tokens":
		fmt.Fprint(w, `{"input_tokens": 1}`)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/messages":
		m.answer(w, r)
	default:
		m.unknown = append(m.unknown, r.Method+" "+r.RequestURI)
		http.NotFound(w, r)
	}
}

func (m *model) answer(w http.ResponseWriter, r *http.Request) {
	var request messagesRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a := answer{model: request.Model, blocks: blocks{{Type: "text", Text: lastWords}}}
	// Without tools it is no part of the conversation: a title, a summary.
	if len(request.Tools) > 0 {
		m.requests = append(m.requests, request)
		if tools := m.next(request); len(tools) > 0 {
			a.blocks = tools
		}
	}
	if request.Stream {
		a.writeStream(w)
	} else {
		a.writeJSON(w)
	}
}

// next makes the tool_use blocks of the script's next turn, if there is one.
// Their IDs say how far the script was.
func (m *model) next(request messagesRequest) blocks {
	done := 0
	for _, message := range request.Messages {
		for _, used := range message.Content.ofType("tool_use") {
			var i int
			if _, err := fmt.Sscanf(used.ID, "toolu_%d_", &i); err == nil {
				done = max(done, i+1)
			}
		}
	}
	if done >= len(m.script) {
		return nil
	}
	var all blocks
	for i, tool := range m.script[done](results(request)) {
		input, err := json.Marshal(tool.input)
		if err != nil {
			m.t.Error(err)
		}
		all = append(all, block{
			Type: "tool_use", ID: fmt.Sprintf("toolu_%02d_%02d", done, i),
			Name: serverPrefix + tool.name, Input: input,
		})
	}
	return all
}

// results returns the tool results of a conversation in the order of the uses.
func results(request messagesRequest) []block {
	var all []block
	for _, message := range request.Messages {
		all = append(all, message.Content.ofType("tool_result")...)
	}
	slices.SortFunc(all, func(a, b block) int { return strings.Compare(a.ToolUseID, b.ToolUseID) })
	return all
}

// conversation returns the requests of the conversation so far.
func (m *model) conversation() []messagesRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}
