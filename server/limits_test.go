package server_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server"
)

// limited returns a client of a server whose runs are short, and those of the
// skill hush shorter.
func limited(t *testing.T, of func(skill string) server.Limits) *client {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "note/SKILL.md"), []byte(noteSkill))
	writeFile(t, filepath.Join(root, "hush/SKILL.md"), []byte("---\nname: hush\ndescription: Hushes.\n---\nHush.\n"))
	f := newFixtureOf(t, root, func(opts *server.Options) { opts.Limits = of }, "toolset=workspace")
	return f.connect(t)
}

// TestLimitsOfRuns: what the operator allows holds for every run, whatever a
// call asks for, and for one skill more strictly.
func TestLimitsOfRuns(t *testing.T) {
	t.Parallel()
	c := limited(t, func(skill string) server.Limits {
		limits := server.Limits{Limits: sandbox.Limits{OutputBytes: 64}, Longest: time.Minute}
		if skill == "hush" {
			limits.Longest = 300 * time.Millisecond
		}
		return limits
	})
	for _, arguments := range []map[string]any{{"command": "sleep 600"}, {"command": "sleep 600", "timeoutMs": 50_000}} {
		arguments["name"] = "hush"
		a := c.call(t, "exec", arguments)
		if a.code() != "execution_timeout" || !strings.Contains(a.text(), "It may not have more time") {
			t.Errorf("%v: %s", arguments, a.text())
		}
	}
	if a := c.call(t, "exec", map[string]any{"name": "note", "command": "sleep 600", "timeoutMs": 300}); !strings.Contains(a.text(), "Ask for more with timeoutMs") {
		t.Errorf("%s", a.text())
	}
	if a := c.call(t, "bash_tool", map[string]any{"name": "hush", "command": "sleep 600", "description": "wait"}); a.code() != "execution_timeout" || strings.Contains(a.text(), "timeoutMs") {
		t.Errorf("advice that the tool has no argument for: %s", a.text())
	}
	if a := c.call(t, "exec", map[string]any{"name": "note", "command": "true", "timeoutMs": 60_001}); a.code() != "invalid_arguments" {
		t.Errorf("%s", a.text())
	}
	if a := c.call(t, "exec", map[string]any{"name": "note", "command": "seq 1000"}); !strings.Contains(a.text(), "bytes left out") {
		t.Errorf("%s", a.text())
	}
}

// TestLimitOfWorkspace: what a workspace may hold is the operator's to say, for
// the tools that write to it too.
func TestLimitOfWorkspace(t *testing.T) {
	t.Parallel()
	c := limited(t, func(string) server.Limits { return server.Limits{Limits: sandbox.Limits{WorkspaceFiles: 2}} })
	for i, want := range []string{"", "", "workspace_full"} {
		a := c.call(t, "create_file", map[string]any{"description": "write", "path": string(rune('a' + i)), "file_text": "x"})
		if a.code() != want {
			t.Errorf("file %d: %s", i+1, a.text())
		}
	}
}

// TestLongCommand: a here-document of almost 1 MiB comes as it is, more is refused,
// and so is what cannot be held against what a skill lists.
func TestLongCommand(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: Runs anything.\n---\n"))
	writeFile(t, filepath.Join(root, "lists", "SKILL.md"), []byte("---\nname: lists\ndescription: Runs ls.\nallowed-tools: Bash(ls:*)\n---\n"))
	c := newFixture(t, root, "toolset=workspace").connect(t)
	text := strings.Repeat("größe $HOME 'x'\n", 50_000)
	command := "wc -c <<'EOF'\n" + text + "EOF\n"
	for tool, arguments := range map[string]map[string]any{"exec": {"name": "free", "command": command}, "bash_tool": {"description": "count", "command": command}} {
		if a := c.call(t, tool, arguments); a.IsError || !strings.Contains(a.text(), fmt.Sprint(len(text))) {
			t.Errorf("%s: %.300s", tool, a.text())
		}
	}
	if a := c.call(t, "exec", map[string]any{"name": "free", "command": "true " + strings.Repeat("x", 1<<20)}); a.code() != "invalid_arguments" {
		t.Errorf("more than 1 MiB: %.300s", a.text())
	}
	if a := c.call(t, "exec", map[string]any{"name": "lists", "command": "ls " + strings.Repeat("x", 20_000)}); a.code() != "permission_denied" || !strings.Contains(a.text(), "the limit is 16384") {
		t.Errorf("more than can be held against a list: %.300s", a.text())
	}
}
