package server_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// alike are ids that the library takes for the same, and JSON-RPC does not.
var alike = []struct{ name, id, other string }{
	{"a string", `1`, `"1"`},
	{"large", `9007199254740993`, `9007199254740992`},
}

func withID(id, method string, params any) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": method, "params": params}
}

func cancellation(id string) map[string]any {
	return map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": json.RawMessage(id)}}
}

// TestCancelTellsIDsApart: a cancellation ends the request of the very id.
func TestCancelTellsIDsApart(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{"stdio", "HTTP", "SSE"} {
		for _, ids := range alike {
			t.Run(transport+" "+ids.name, func(t *testing.T) {
				t.Parallel()
				f, a := goneFixture(t)
				start, tell := f.speak(t, transport)
				start(withID(ids.other, "tools/call", execParams(forever)))
				a.begins(t)
				start(withID(ids.id, "tools/call", execParams("until [ -e go ]; do sleep 0.01; done")))
				workspace := a.begins(t)
				tell(cancellation(ids.other))
				if result := a.ends(t); result.Status != sandbox.Canceled {
					t.Errorf("the canceled run ended as %v", result.Status)
				}
				must(t, os.WriteFile(filepath.Join(workspace, "go"), nil, 0o644))
				if result := a.ends(t); result.Status != sandbox.Exited {
					t.Errorf("the other run ended as %v", result.Status)
				}
			})
		}
	}
}

// speak opens a session. start sends a request and does not wait.
func (f *fixture) speak(t *testing.T, transport string) (start, tell func(message any)) {
	t.Helper()
	switch transport {
	case "stdio":
		c := f.connect(t)
		send := func(message any) { c.send(t, message) }
		return send, send
	case "SSE":
		c := dialSSE(t, f.serveHTTP(t))
		send := func(message any) { post(t, c.endpoint, message) }
		return send, send
	}
	url := f.serveHTTP(t)
	headers := legacy(t, url)
	return func(message any) { startHTTP(t, url+"/mcp", message, headers...) },
		func(message any) { post(t, url+"/mcp", message, headers...) }
}

// TestHTTPAnswersHaveTheID: the id of an answer is the request's, as it was
// written.
func TestHTTPAnswersHaveTheID(t *testing.T) {
	t.Parallel()
	url := newFixture(t, testdata.Valid()).serveHTTP(t)
	headers := legacy(t, url)
	for _, id := range []string{`1`, `"1"`, `9007199254740993`, `-9223372036854775807`, `18446744073709551615`} {
		for _, method := range []string{"tools/list", "skills/list", "no/such/method"} {
			response, body := post(t, url+"/mcp", withID(id, method, map[string]any{}), headers...)
			var answer struct {
				ID     json.RawMessage
				Result any
				Error  any
			}
			if json.Unmarshal(body, &answer) != nil || string(answer.ID) != id || (answer.Result == nil) == (answer.Error == nil) {
				t.Errorf("%s of %s: %s %.200s", method, id, response.Status, body)
			}
		}
	}
}

// TestListenTellsIDsApart: the end of one request to listen is not that of
// another whose id is alike.
func TestListenTellsIDsApart(t *testing.T) {
	t.Parallel()
	for _, ids := range alike {
		t.Run(ids.name, func(t *testing.T) {
			t.Parallel()
			f, uris := burstFixture(t)
			c := openSSE(t, f.serveHTTP(t))
			filter := modern(map[string]any{"notifications": map[string]any{"resourceSubscriptions": uris[:1]}})
			for _, id := range []string{ids.id, ids.other} {
				post(t, c.endpoint, withID(id, "subscriptions/listen", filter))
				(&listener{heard: c.told}).acknowledged(t)
			}
			post(t, c.endpoint, cancellation(ids.other))
			c.hears(t, `"id":`+ids.other)
			f.burst(t, uris[0])
			c.hears(t, `"io.modelcontextprotocol/subscriptionId":`+ids.id)
		})
	}
}

// hears waits for a message that holds a text.
func (c *sseClient) hears(t *testing.T, text string) {
	t.Helper()
	for {
		select {
		case line := <-c.told:
			if strings.Contains(line, text) {
				return
			}
		case <-time.After(patience):
			t.Fatalf("nothing came with %s", text)
		}
	}
}

// TestRequestThatIsAResponse: a message that is both is refused, and not left
// without an answer or answered with null.
func TestRequestThatIsAResponse(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testdata.Valid())
	const both = `{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}`
	if answer := one(t, f.serveInput(t, both+"\n"), "null"); answer.Error == nil {
		t.Errorf("stdio: %+v", answer)
	}
	url := f.serveHTTP(t)
	for name, endpoint := range map[string]string{"HTTP": url + "/mcp", "SSE": dialSSE(t, url).endpoint} {
		if response, body := post(t, endpoint, json.RawMessage(both), legacy(t, url)...); response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %s %s", name, response.Status, body)
		}
	}
}
