package integration

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// mcpConfig is the file that most hosts register servers with.
type mcpConfig struct {
	Servers map[string]struct {
		Type    string   `json:"type"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		URL     string   `json:"url"`
	} `json:"mcpServers"`
}

func exampleConfig(t *testing.T) mcpConfig {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(contentsOf(t, "../mcp.json.example")))
	decoder.DisallowUnknownFields()
	var config mcpConfig
	if err := decoder.Decode(&config); err != nil {
		t.Fatal(err)
	}
	return config
}

// The command line in mcp.json.example starts a server with the skills of the
// roots that it names.
func TestExampleConfigStartsTheServer(t *testing.T) {
	t.Parallel()
	server := exampleConfig(t).Servers["skills"]
	if server.Type != "stdio" || server.Command != "skills-mcp" {
		t.Fatalf("the example's stdio server is %+v", server)
	}
	env, project := program.Home(t), t.TempDir()
	writeSkill(t, filepath.Join(program.Environ(env)["HOME"], ".claude/skills"), "user-skill", "Of the user.")
	writeSkill(t, filepath.Join(project, ".skills"), "project-skill", "Of the project.")
	w := dial(t, append(env, "CLAUDE_PROJECT_DIR="+project), server.Args...)
	w.handshake(t)
	for _, skill := range []string{"user-skill", "project-skill"} {
		if result := w.callTool(t, "activate", map[string]any{"name": skill}); result.IsError {
			t.Errorf("activate %s: %s", skill, result.text())
		}
	}
}

// The example's URL is the one that `make run` serves.
func TestExampleConfigNamesTheDefaultAddress(t *testing.T) {
	t.Parallel()
	server := exampleConfig(t).Servers["skills-http"]
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	if server.Type != "http" || address.Scheme != "http" || address.Path != "/mcp" {
		t.Errorf("the example's HTTP server is %+v", server)
	}
	if makefile := contentsOf(t, "../Makefile"); !strings.Contains(makefile, "ADDR        ?= "+address.Host+"\n") {
		t.Errorf("make run does not serve %s", address.Host)
	}
}

// Claude Code reads the example as a project's .mcp.json.
func TestClaudeCodeReadsTheExample(t *testing.T) {
	testenv.Slow(t, "one more start of a whole agent")
	t.Parallel()
	require(t, "node")
	env, project := program.Home(t), t.TempDir()
	writeFile(t, filepath.Join(project, ".mcp.json"), contentsOf(t, "../mcp.json.example"))
	for name, server := range exampleConfig(t).Servers {
		got := claude(t, env, project, "mcp", "get", name)
		for _, want := range append(server.Args, server.Command, server.URL) {
			if !strings.Contains(got, want) {
				t.Errorf("claude mcp get %s lacks %q:\n%s", name, want, got)
			}
		}
	}
}
