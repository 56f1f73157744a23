package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// writeToolSkill writes a skill whose tools show what they are given, with these
// lines in its frontmatter.
func writeToolSkill(t *testing.T, root, name, lines string, tools ...string) {
	t.Helper()
	writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Shows.\n"+lines+"---\n"))
	writeFile(t, filepath.Join(root, name, "scripts", "show.sh"), []byte("printf '%s ' \"$@\"; cat\n"))
	writeFile(t, filepath.Join(root, name, "tools.json"), []byte("["+strings.Join(tools, ",")+"]"))
}

// showTool is a tool of such a skill.
func showTool(name, schema string) string {
	return fmt.Sprintf(`{"name": %q, "description": "Shows\u202e x.", "argv": ["scripts/show.sh", "{x}"], "inputSchema": %s}`, name, schema)
}

const anyX = `{"type": "object", "properties": {"x": {"type": "string", "enum": ["a", "b"]}}, "required": ["x"]}`

// exposed returns the tools besides those of the server, by name.
func (c *client) exposed(t *testing.T) map[string]listedTool {
	t.Helper()
	var list struct{ Tools []listedTool }
	must(t, json.Unmarshal(c.ask(t, "tools/list", map[string]any{}).Result, &list))
	tools := map[string]listedTool{}
	for _, tool := range list.Tools {
		tools[tool.Name] = tool
	}
	for _, name := range []string{"activate", "readResource", "exec", "findSkills", "applyChanges"} {
		delete(tools, name)
	}
	return tools
}

// TestExposedPackTools: the tools of skills are tools of the server, with names that
// every host takes, and each call is one of exec.
func TestExposedPackTools(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	writeToolSkill(t, root, "show", "", showTool("it", anyX), showTool("any", `{"type": "object", "anyOf": [{}]}`), showTool("long", `{"type": "object", "title": "`+strings.Repeat("x", 9000)+`"}`))
	writeToolSkill(t, root, "a-very-long-name-of-a-skill", "", showTool("with_a_long_tool", anyX), showTool("with_a_long_tool2", anyX))
	writeToolSkill(t, root, "größe", "", showTool("it", anyX))
	writeToolSkill(t, root, "bound", "allowed-tools: Read\n", showTool("it", anyX))
	writeToolSkill(t, root, "hush", "", showTool("it", anyX))
	writeToolSkill(t, root, "own", "disable-model-invocation: true\n", showTool("it", anyX))
	writeToolSkill(t, root, "broken", "", "{")
	writeToolSkill(t, root, "bash", "", showTool("tool", anyX)) // as one of the server's
	c := newFixture(t, root, "pack-tools", "toolset=workspace", "hide=hush", "audit").connect(t)
	tools := c.exposed(t)
	for _, name := range []string{"view", "create_file", "str_replace", "bash_tool"} {
		if _, there := tools[name]; !there || strings.Contains(tools[name].Description, "of the skill bash") {
			t.Errorf("%s is %+v", name, tools[name])
		}
		delete(tools, name)
	}
	safe, names := regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`), map[string]bool{}
	for name, tool := range tools {
		if !safe.MatchString(name) || tool.Annotations["readOnlyHint"] != false || strings.ContainsRune(tool.Description, '\u202e') {
			t.Errorf("%s: %+v", name, tool)
		}
		names[regexp.MustCompile(`_[0-9a-f]{8}$`).ReplaceAllString(name, "_HASH")] = true
	}
	want := map[string]bool{"show_it": true, "a-very-long-name-of-a-skill_wit_HASH": true, "gr__e_it_HASH": true, "bound_it": true}
	if diff := cmp.Diff(want, names); diff != "" || len(tools) != 5 {
		t.Errorf("%d tools (-want +got):\n%s", len(tools), diff)
	}
	if diff := cmp.Diff(anyX, string(tools["show_it"].InputSchema), cmp.Transformer("json", valueOf)); diff != "" {
		t.Errorf("the schema (-want +got):\n%s", diff)
	}

	a := c.call(t, "show_it", map[string]any{"x": "a"})
	var run ran
	must(t, json.Unmarshal(a.Structured, &run))
	if a.IsError || run.Stdout != `a {"x":"a"}` {
		t.Errorf("a call: %s", a.text())
	}
	for name, code := range map[string]string{"show_it": "invalid_arguments", "bound_it": "permission_denied"} {
		x := map[string]any{"x": "a"}
		if name == "show_it" {
			x["x"] = "c"
		}
		if a := c.call(t, name, x); a.code() != code {
			t.Errorf("%s: %s", name, a.text())
		}
	}
	if r := c.ask(t, "tools/call", map[string]any{"name": "hush_it", "arguments": map[string]any{"x": "a"}}); r.Error == nil {
		t.Errorf("a hidden skill's tool: %s", r.Result)
	}
}

func valueOf(text string) (value any) {
	_ = json.Unmarshal([]byte(text), &value)
	return value
}

// TestExposedPackToolsAreBounded: however many tools skills have, the list is short,
// and of one name there is one.
func TestExposedPackToolsAreBounded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range 3 {
		var tools []string
		for j := range 20 {
			tools = append(tools, showTool(fmt.Sprintf("it%d", j), anyX))
		}
		writeToolSkill(t, root, fmt.Sprintf("many%d", i), "", tools...)
	}
	if tools := newFixture(t, root, "pack-tools").connect(t).exposed(t); len(tools) != 40 {
		t.Errorf("%d tools", len(tools))
	}
	if tools := newFixture(t, root).connect(t).exposed(t); len(tools) != 0 {
		t.Errorf("they are there without being wanted: %v", tools)
	}
}
