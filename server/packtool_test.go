package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInputIsNoOption: what a caller puts into a tool's command is an option of
// its program only where the author's schema allows for it.
func TestInputIsNoOption(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	tools := []string{}
	for name, schema := range map[string]string{
		"any": `{"type": "string"}`, "untyped": `{}`, "loose": `{"type": "string", "pattern": "[a-z]"}`, "list": `{"type": "array", "items": {"type": "string"}}`,
		"enum": `{"enum": ["-n", "a"]}`, "pattern": `{"type": "string", "pattern": "^-?[a-z]+$"}`, "number": `{"type": "number"}`,
	} {
		tools = append(tools, fmt.Sprintf(`{"name": %q, "description": "x", "argv": ["scripts/show.sh", "--", "{x}"], "inputSchema": {"type": "object", "properties": {"x": %s}}}`, name, schema))
	}
	tools = append(tools, `{"name": "find", "description": "x", "argv": ["find", "{x}", "-name", "kept"], "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}`)
	writeFile(t, filepath.Join(root, "bound", "SKILL.md"), []byte("---\nname: bound\ndescription: Bound.\n---\n"))
	writeFile(t, filepath.Join(root, "bound", "tools.json"), []byte("["+strings.Join(tools, ",")+"]"))
	writeFile(t, filepath.Join(root, "bound", "scripts", "show.sh"), []byte("printf '<%s>' \"$@\"\n"))
	c := newFixture(t, root).connect(t)
	for _, test := range []struct {
		tool  string
		value any
		want  string // what the program is given, or nothing where it is refused
	}{
		{"any", "--output=x", ""}, {"any", "-", ""}, {"any", "-1", ""}, {"any", "a-b", "<--><a-b>"}, {"any", "./-x", "<--><./-x>"}, {"any", "", "<--><>"}, {"any", " -x", "<-->< -x>"},
		{"untyped", "-delete", ""}, {"untyped", -1, ""}, {"untyped", []string{"-x"}, `<--><["-x"]>`}, {"loose", "--use-compress-program=x", ""},
		{"list", []string{"-x", "--y"}, `<--><["-x","--y"]>`}, {"enum", "-n", "<--><-n>"}, {"pattern", "-n", "<--><-n>"}, {"number", -2.5, "<--><-2.5>"},
	} {
		arguments := map[string]any{"name": "bound", "tool": test.tool, "input": map[string]any{"x": test.value}}
		if a := c.call(t, "exec", arguments); test.want == "" {
			if a.code() != "invalid_arguments" || !strings.Contains(a.text(), "begins with -") {
				t.Errorf("%s, %v: %s", test.tool, test.value, a.text())
			}
		} else if run := c.exec(t, "bound", arguments); run.Stdout != test.want {
			t.Errorf("%s, %v: %+v", test.tool, test.value, run)
		}
	}
	if run := c.exec(t, "bound", map[string]any{"command": "touch kept"}); run.Error.Code != "" {
		t.Fatalf("%+v", run)
	}
	if a := c.call(t, "exec", map[string]any{"name": "bound", "tool": "find", "input": map[string]any{"x": "-delete"}}); a.code() != "invalid_arguments" {
		t.Errorf("find -delete: %s", a.text())
	}
	if run := c.exec(t, "bound", map[string]any{"command": "ls kept"}); run.Error.Code != "" {
		t.Error("an input deleted the workspace's files")
	}
	if _, err := os.Stat(filepath.Join(root, "bound", "SKILL.md")); err != nil {
		t.Error(err)
	}
}

// TestToolSaysHow: a tool's author says how long it may take and where it starts,
// and no caller says otherwise.
func TestToolSaysHow(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "says", "SKILL.md"), []byte("---\nname: says\ndescription: Says.\n---\n"))
	writeFile(t, filepath.Join(root, "says", "tools.json"), []byte(`[
		{"name": "slow", "description": "x", "run": ["sleep", "60"], "timeoutMs": 50},
		{"name": "long", "description": "x", "run": ["sleep", "60"], "timeoutMs": 60000},
		{"name": "here", "description": "x", "command": "ls", "args": ["{x}"], "cwd": "skill", "inputSchema": {"type": "object", "properties": {"x": {"enum": ["SKILL.md"]}}}},
		{"name": "there", "description": "x", "command": "ls", "cwd": "workspace"}
	]`))
	c := newFixture(t, root).connect(t)
	for _, arguments := range []map[string]any{{"tool": "slow"}, {"tool": "slow", "timeoutMs": 60_000}, {"tool": "long", "timeoutMs": 50}} {
		arguments["name"] = "says"
		if a := c.call(t, "exec", arguments); a.code() != "execution_timeout" || !strings.Contains(a.text(), "killed after") {
			t.Errorf("%v: %s", arguments, a.text())
		}
	}
	if run := c.exec(t, "says", map[string]any{"tool": "here", "input": map[string]any{"x": "SKILL.md"}}); run.Stdout != "SKILL.md\n" {
		t.Errorf("in the skill: %+v", run)
	}
	if run := c.exec(t, "says", map[string]any{"tool": "there", "cwd": "skill"}); run.Stdout != "" || run.Error.Code != "" {
		t.Errorf("in the workspace: %+v", run)
	}
}
