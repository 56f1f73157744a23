package integration

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// What the tools of the toolset workspace write, programs can change and
// remove, and the other way round, whoever programs run as.
func TestToolsetSharesFiles(t *testing.T) {
	t.Parallel()
	for _, sandbox := range []string{"local", "docker", "unsafe-host"} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			writeSkill(t, root, "open", "Anything may be run.")
			needSandbox(t, sandbox, root)
			w := dial(t, nil, "--sandbox="+sandbox, "--toolsets=workspace", root)
			w.handshake(t)
			for _, step := range []struct {
				tool      string
				arguments map[string]any
				shows     string
			}{
				{"create_file", map[string]any{"path": "a/b/ours", "file_text": "1\n"}, "Created a/b/ours"},
				{"bash_tool", map[string]any{"command": "echo 2 >> a/b/ours && echo 1 > a/b/theirs && chmod 750 a/b/theirs && mkdir a/c && mv a/b/ours a/c/ours && cat a/c/ours"}, "1\n2\n"},
				{"str_replace", map[string]any{"path": "a/c/ours", "old_str": "2", "new_str": "3"}, "3"},
				{"str_replace", map[string]any{"path": "/workspace/a/b/theirs", "old_str": "1", "new_str": "2"}, "2"},
				{"create_file", map[string]any{"path": "a/c/new/file", "file_text": "1"}, "Created"},
				{"view", map[string]any{"path": "a"}, "- a/b/theirs"},
				{"bash_tool", map[string]any{"command": "stat -c %a a/b/theirs && echo x >> a/b/theirs && echo x >> a/c/ours && touch a/c/new/too && echo x > a/c/new/file", "name": "open"}, "750\n"},
				{"bash_tool", map[string]any{"command": "rm -r a && ls", "description": "tidies up"}, "exit code 0"},
			} {
				result := w.callTool(t, step.tool, step.arguments)
				if text := result.Content[0].Text; result.IsError || !strings.Contains(text, step.shows) {
					t.Fatalf("%s %v: %s", step.tool, step.arguments, text)
				}
			}
		})
	}
}

// needSandbox skips the test where programs cannot be run so.
func needSandbox(t *testing.T, sandbox, root string) {
	t.Helper()
	if sandbox == "docker" {
		require(t, "docker")
	}
	out, err := exec.Command(program.Binary(t), "call", "--sandbox="+sandbox, "--root", root, "exec", "name=open", "command=true").CombinedOutput()
	if err != nil {
		t.Skipf("no sandbox %s here: %s", sandbox, out)
	}
}
