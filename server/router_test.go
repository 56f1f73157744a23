package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// routedMethods go through the router; each must meet the same rules as
// resources/list does in the library.
var routedMethods = []string{"skills/list", "skills/get", "resources/directory/read"}

const listMethod = "resources/list"

// paramsOf are parameters with which a method succeeds.
func paramsOf(method string) map[string]any {
	switch method {
	case "skills/get":
		return map[string]any{"uri": "skill://unit-convert/SKILL.md"}
	case "resources/directory/read":
		return map[string]any{"uri": "skill://unit-convert"}
	}
	return map[string]any{}
}

// httpCase is a request made in some way right or wrong.
type httpCase struct {
	name string
	// build returns the message and the headers for a method.
	build func(t *testing.T, url, method string) (message any, headers []string)
}

var httpCases = []httpCase{
	{"legacy", func(t *testing.T, url, method string) (any, []string) {
		return rpc(1, method, paramsOf(method)), legacy(t, url)
	}},
	{"legacy without version header", func(t *testing.T, url, method string) (any, []string) {
		return rpc(1, method, paramsOf(method)), legacy(t, url)[:2]
	}},
	{"legacy of an unknown version", func(t *testing.T, url, method string) (any, []string) {
		return rpc(1, method, paramsOf(method)), append(legacy(t, url)[:2:2], "MCP-Protocol-Version", "1999-01-01")
	}},
	{"no session", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, paramsOf(method)), nil
	}},
	{"a session that never was", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, paramsOf(method)), []string{"Mcp-Session-Id", "mcp-session-nonsense"}
	}},
	{"a session that ended", func(t *testing.T, url, method string) (any, []string) {
		headers := legacy(t, url)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url+"/mcp", nil)
		must(t, err)
		request.Header.Set(headers[0], headers[1])
		response, err := http.DefaultClient.Do(request)
		must(t, err)
		response.Body.Close()
		return rpc(1, method, paramsOf(method)), headers
	}},
	{"modern", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), modernHeaders(method, "")
	}},
	{"modern with a session header", func(t *testing.T, url, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), append(modernHeaders(method, ""), "Mcp-Session-Id", "x")
	}},
	{"modern without headers", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), nil
	}},
	{"modern without method header", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), modernHeaders(method, "")[:2]
	}},
	{"modern with another method in the header", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), modernHeaders("tools/list", "")
	}},
	{"modern in the header alone", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, paramsOf(method)), modernHeaders(method, "")
	}},
	{"modern with another version in the header", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), []string{"MCP-Protocol-Version", "2025-11-25", "Mcp-Method", method}
	}},
	{"modern that would resume", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), append(modernHeaders(method, ""), "Last-Event-ID", "7")
	}},
	{"of a future version", func(_ *testing.T, _, method string) (any, []string) {
		params := modern(paramsOf(method))
		params["_meta"].(map[string]any)["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
		return rpc(1, method, params), []string{"MCP-Protocol-Version", "2099-01-01", "Mcp-Method", method}
	}},
	{"not JSON by its type", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), append(modernHeaders(method, ""), "Content-Type", "text/plain")
	}},
	{"only JSON accepted", func(_ *testing.T, _, method string) (any, []string) {
		return rpc(1, method, modern(paramsOf(method))), append(modernHeaders(method, ""), "Accept", "application/json")
	}},
}

// TestRouterHTTP holds what the router answers over HTTP against what the
// library answers to resources/list, call by call.
func TestRouterHTTP(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	for _, test := range httpCases {
		want := outcomeHTTP(t, url, listMethod, test)
		for _, method := range routedMethods {
			if diff := cmp.Diff(want, outcomeHTTP(t, url, method, test)); diff != "" {
				t.Errorf("%s: %s differs from %s (-library +router):\n%s", test.name, method, listMethod, diff)
			}
		}
	}
}

// outcome is what a rule decides about a request.
type outcome struct {
	Status      int
	ContentType string
	Session     bool
	Response    response
}

type response struct {
	Body  string // where it is no JSON
	ID    any
	Error any
	Added []string // what the library adds to every result
}

func outcomeHTTP(t *testing.T, url, method string, test httpCase) outcome {
	t.Helper()
	message, headers := test.build(t, url, method)
	answer, body := post(t, url+"/mcp", message, headers...)
	return outcome{
		Status:      answer.StatusCode,
		ContentType: answer.Header.Get("Content-Type"),
		Session:     answer.Header.Get("Mcp-Session-Id") != "",
		Response:    parsed(body, method),
	}
}

// parsed takes a response apart, the method's own name and fields left out.
func parsed(body []byte, method string) response {
	var message struct {
		ID     any
		Error  any
		Result map[string]json.RawMessage
	}
	if json.Unmarshal(body, &message) != nil {
		return response{Body: string(body)}
	}
	r := response{ID: message.ID}
	if message.Error != nil {
		text, _ := json.Marshal(message.Error)
		r.Error = strings.ReplaceAll(string(text), method, "METHOD")
	}
	for _, key := range []string{"resultType", "_meta", "ttlMs", "cacheScope"} {
		if value, ok := message.Result[key]; ok {
			r.Added = append(r.Added, fmt.Sprintf("%s=%s", key, value))
		}
	}
	return r
}

// TestRouterStdio does the same on stdio, for what a message alone can do
// wrong.
func TestRouterStdio(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		message string // METHOD and PARAMS are put in
	}{
		{"plain", `{"jsonrpc":"2.0","id":1,"method":"METHOD","params":PARAMS}`},
		{"text id", `{"jsonrpc":"2.0","id":"é","method":"METHOD","params":PARAMS}`},
		{"large id", `{"jsonrpc":"2.0","id":9007199254740993,"method":"METHOD","params":PARAMS}`},
		{"fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"METHOD","params":PARAMS}`},
		{"object as id", `{"jsonrpc":"2.0","id":{},"method":"METHOD","params":PARAMS}`},
		{"other version", `{"jsonrpc":"1.0","id":1,"method":"METHOD","params":PARAMS}`},
		{"no version", `{"id":1,"method":"METHOD","params":PARAMS}`},
		{"list as params", `{"jsonrpc":"2.0","id":1,"method":"METHOD","params":[]}`},
		{"text as params", `{"jsonrpc":"2.0","id":1,"method":"METHOD","params":"x"}`},
		{"meta of a wrong type", `{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"_meta":7}}`},
		{"future version", `{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}`},
	} {
		want := outcomeStdio(t, listMethod, test.message)
		for _, method := range routedMethods {
			if diff := cmp.Diff(want, outcomeStdio(t, method, test.message)); diff != "" {
				t.Errorf("%s: %s differs from %s (-library +router):\n%s", test.name, method, listMethod, diff)
			}
		}
	}
}

func outcomeStdio(t *testing.T, method, message string) response {
	t.Helper()
	f := newFixture(t, testdata.Valid())
	params, err := json.Marshal(paramsOf(method))
	must(t, err)
	line := strings.NewReplacer("METHOD", method, "PARAMS", string(params)).Replace(message)
	return parsed(f.exchangeRaw(t, []byte(line)), method)
}
