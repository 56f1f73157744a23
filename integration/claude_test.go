package integration

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// claude runs Claude Code's command line in a project directory. Without an
// account it still manages and probes MCP servers.
func claude(t *testing.T, env []string, project string, args ...string) string {
	t.Helper()
	launcher, err := filepath.Abs(nodeDir + "/node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{launcher}, args...)...)
	cmd.Dir = project
	cmd.Env = append(env, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("claude %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// Registered in Claude Code with the documented lines, the server connects.
func TestClaudeCodeConnects(t *testing.T) {
	testenv.Slow(t, "one more start of a whole agent")
	t.Parallel()
	require(t, "node")
	env, project := program.Home(t), t.TempDir()
	_, url := program.Serve(t, env, sampleRoot(t))

	claude(t, env, project, "mcp", "add", "skills", "--", program.Binary(t), sampleRoot(t))
	claude(t, env, project, "mcp", "add", "--transport", "http", "skills-http", url+"/mcp")
	claude(t, env, project, "mcp", "add", "--transport", "sse", "skills-sse", url+"/sse")

	listed := claude(t, env, project, "mcp", "list")
	for _, server := range []string{"skills: ", "skills-http: ", "skills-sse: "} {
		var line string
		for candidate := range strings.Lines(listed) {
			if strings.HasPrefix(candidate, server) {
				line = candidate
			}
		}
		if !strings.Contains(line, "Connected") {
			t.Errorf("claude mcp list says %q of %s in\n%s", line, server, listed)
		}
	}
}

// Registered by the program itself, the server connects, and is gone when that is
// taken back; Claude Code's own entries stay.
func TestClaudeCodeReadsRegistration(t *testing.T) {
	testenv.Slow(t, "one more start of a whole agent")
	t.Parallel()
	require(t, "node")
	env, project := program.Home(t), t.TempDir()
	claude(t, env, project, "mcp", "add", "--scope", "user", "other", "--", program.Binary(t), "--sandbox=off", sampleRoot(t))
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(program.Binary(t), args...)
		cmd.Dir, cmd.Env = project, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	run("register", "--host", "claude-code", "--sandbox=off", sampleRoot(t))
	listed := claude(t, env, project, "mcp", "list")
	if strings.Count(listed, "Connected") != 2 || !strings.Contains(listed, "\nskills: ") {
		t.Errorf("claude mcp list says\n%s", listed)
	}
	run("unregister", "--host", "claude-code")
	if listed = claude(t, env, project, "mcp", "list"); strings.Contains(listed, "\nskills: ") || strings.Count(listed, "Connected") != 1 {
		t.Errorf("claude mcp list says\n%s", listed)
	}
}
