package hosts

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

const (
	// serverName is what the server is registered as.
	serverName = "skills"
	// serverPrefix is what Claude Code puts before its tools and prompts.
	serverPrefix = "mcp__" + serverName + "__"
	// apiKey looks like a key, which the client checks, and opens nothing.
	apiKey = "sk-ant-api03-of-no-account-0000000000"
)

// ourTools are the tools that the server gives by default.
var ourTools = []string{"activate", "applyChanges", "exec", "findSkills", "readResource"}

// claude is Claude Code with the server registered and a stand-in for its
// model. Everything it keeps is in directories of its own.
type claude struct {
	model    *model
	env      []string
	project  string // its working directory
	launcher string
	flags    []string // that register the server, if it is not its project's
}

// newClaude registers a server that stdio starts over the roots given.
func newClaude(t *testing.T, m *model, roots ...string) *claude {
	t.Helper()
	return registered(t, m, map[string]any{"type": "stdio", "command": program.Binary(t), "args": serverArgs(roots...)})
}

// registered sets Claude Code up with one MCP server.
func registered(t *testing.T, m *model, server map[string]any) *claude {
	t.Helper()
	c := unregistered(t, m)
	config := filepath.Join(t.TempDir(), "mcp.json")
	writeJSON(t, config, map[string]any{"mcpServers": map[string]any{serverName: server}})
	c.flags = []string{"--mcp-config", config, "--strict-mcp-config"}
	return c
}

// unregistered sets Claude Code up in a project of its own, without any MCP
// server.
func unregistered(t *testing.T, m *model) *claude {
	t.Helper()
	require(t, "node")
	launcher, err := filepath.Abs(filepath.Join(clientsDir, "node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs"))
	if err != nil {
		t.Fatal(err)
	}
	c := &claude{model: m, project: t.TempDir(), launcher: launcher}
	configDir := t.TempDir()
	c.env = slices.Concat(program.Home(t), m.environment(), []string{
		"CLAUDE_CONFIG_DIR=" + configDir,
		"ANTHROPIC_API_KEY=" + apiKey,
		"TERM=xterm-256color",
		// Tool search is off by default where the API is not the vendor's.
		"ENABLE_TOOL_SEARCH=true",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1",
		"DISABLE_BUG_COMMAND=1",
	})
	// What a user has answered after the first start.
	writeJSON(t, filepath.Join(configDir, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string]any{"approved": []string{apiKey[len(apiKey)-20:]}, "rejected": []string{}},
		"projects": map[string]any{c.project: map[string]any{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
		}},
	})
	return c
}

func writeJSON(t *testing.T, file string, value any) {
	t.Helper()
	encoded, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, encoded, 0o600); err != nil {
		t.Fatal(err)
	}
}

// args registers the server where that is due, and allows its tools.
func (c *claude) args() []string {
	allowed := make([]string, len(ourTools))
	for i, tool := range ourTools {
		allowed[i] = serverPrefix + tool
	}
	return append(slices.Clone(c.flags), "--allowedTools", strings.Join(allowed, ","))
}

// event is a line of Claude Code's stream-json output: the first says what it
// found, the last how it ended.
type event struct {
	Type       string `json:"type"`
	Subtype    string `json:"subtype"`
	MCPServers []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`
	SlashCommands []string `json:"slash_commands"`

	Result            string            `json:"result"`
	IsError           bool              `json:"is_error"`
	PermissionDenials []json.RawMessage `json:"permission_denials"`
}

// run gives Claude Code a prompt, lets it work to the end of the model's
// script and returns what it said at first and the requests that the model
// got.
func (c *claude) run(t *testing.T, prompt string) (event, []messagesRequest) {
	t.Helper()
	args := append([]string{c.launcher, "-p", prompt, "--output-format", "stream-json", "--verbose"}, c.args()...)
	stdout := mustRun(t, c.env, c.project, "node", args...)
	var first, last event
	for lines := json.NewDecoder(bytes.NewReader(stdout)); lines.More(); {
		last = event{}
		if err := lines.Decode(&last); err != nil {
			t.Fatalf("%v in %s", err, stdout)
		}
		if last.Subtype == "init" {
			first = last
		}
	}
	if last.Type != "result" || last.IsError || last.Result != lastWords || len(last.PermissionDenials) > 0 {
		t.Fatalf("Claude Code ended with %+v\n%s", last, stdout)
	}
	for _, server := range first.MCPServers {
		if server.Name != serverName || server.Status != "connected" {
			t.Fatalf("MCP servers: %+v", first.MCPServers)
		}
	}
	requests := c.model.conversation()
	if len(requests) != len(c.model.script)+1 {
		t.Fatalf("the model was asked %d times, its script has %d turns", len(requests), len(c.model.script))
	}
	return first, requests
}

// script runs the model's script and returns the results of the tools it used.
func (c *claude) script(t *testing.T) []block {
	t.Helper()
	_, requests := c.run(t, "Do what the script says.")
	return results(requests[len(requests)-1])
}
