package cards

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// server is the built server, as a host that shows cards has it.
type server struct{ url string }

// answered is a tool's answer, and the card on which it is shown.
type answered struct {
	tool, card    string
	input, result map[string]any
}

// newServer serves skills, given by their files' paths below the root, with a
// project.
func newServer(t *testing.T, files, project map[string]string) *server {
	t.Helper()
	root, users := t.TempDir(), filepath.Join(t.TempDir(), "harbour")
	write(t, root, files)
	write(t, users, project)
	_, url := program.Serve(t, program.Home(t), "--sandbox=unsafe-host", "--approval=host", "--toolsets=workspace", "--expose-pack-tools", "--log-level=warn", "--project", users, root)
	return &server{url + "/mcp"}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// ask asks as a host that shows cards. It returns the fields result or error.
func (s *server) ask(method string, params map[string]any) map[string]any {
	fail := func(err error) map[string]any {
		return map[string]any{"error": map[string]any{"code": -32000, "message": err.Error()}}
	}
	name, _ := params["name"].(string)
	if uri, ok := params["uri"].(string); ok {
		name = uri
	}
	params["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo":      map[string]any{"name": "host", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{"extensions": map[string]any{
			"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}},
		}},
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	request, err := http.NewRequest(http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return fail(err)
	}
	for key, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name,
	} {
		if value != "" {
			request.Header.Set(key, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fail(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return fail(err)
	}
	if at := strings.LastIndex(string(text), "data: {"); at >= 0 && !strings.HasPrefix(string(text), "{") {
		text = text[at+len("data: "):]
	}
	var answer map[string]any
	if err := json.Unmarshal(text, &answer); err != nil {
		return fail(err)
	}
	delete(answer, "id")
	delete(answer, "jsonrpc")
	return answer
}

// result returns the result of a request, of which there must be one.
func (s *server) result(t *testing.T, method string, params map[string]any) map[string]any {
	t.Helper()
	answer := s.ask(method, params)
	result, ok := answer["result"].(map[string]any)
	if !ok {
		t.Fatalf("%s: %v", method, answer)
	}
	return result
}

// call calls a tool.
func (s *server) call(t *testing.T, tool string, arguments map[string]any) answered {
	t.Helper()
	of := answered{tool: tool, input: arguments}
	for _, listed := range s.result(t, "tools/list", map[string]any{})["tools"].([]any) {
		if listed := listed.(map[string]any); listed["name"] == tool {
			of.card = listed["_meta"].(map[string]any)["ui"].(map[string]any)["resourceUri"].(string)
		}
	}
	of.result = s.result(t, "tools/call", map[string]any{"name": tool, "arguments": arguments})
	return of
}

// card returns a card's document.
func (s *server) card(t *testing.T, uri string) string {
	t.Helper()
	contents := s.result(t, "resources/read", map[string]any{"uri": uri})["contents"].([]any)
	return contents[0].(map[string]any)["text"].(string)
}
