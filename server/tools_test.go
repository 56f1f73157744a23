package server_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// listedTool is a tool of tools/list.
type listedTool struct {
	Name        string
	Description string
	InputSchema json.RawMessage
	Annotations map[string]any
	Meta        map[string]any `json:"_meta"`
}

// TestTools holds what hosts make of a tool: the goldens show every schema,
// and the checks are what some host breaks at.
func TestTools(t *testing.T) {
	t.Parallel()
	base := listTools(t)
	all := listTools(t, "toolset=workspace")
	if len(base) != 5 || len(all) != 9 {
		t.Fatalf("%d tools, and %d with a toolset", len(base), len(all))
	}
	for _, tool := range base {
		if !slices.ContainsFunc(all, func(other json.RawMessage) bool { return bytes.Equal(tool, other) }) {
			t.Errorf("a toolset changes %s", tool)
		}
	}
	for _, raw := range all {
		var tool listedTool
		must(t, json.Unmarshal(raw, &tool))
		t.Run(tool.Name, func(t *testing.T) {
			var pretty bytes.Buffer
			must(t, json.Indent(&pretty, raw, "", "  "))
			golden(t, "tool-"+tool.Name+".json", append(pretty.Bytes(), '\n'))
			checkTool(t, tool)
		})
	}
}

func listTools(t *testing.T, options ...string) []json.RawMessage {
	t.Helper()
	var list struct{ Tools []json.RawMessage }
	newFixture(t, testdata.Valid(), options...).request(t, "tools/list", nil, &list)
	return list.Tools
}

// known are the arguments that tools of these names take elsewhere, such as
// those that models were trained with.
const known = `{
  "view": {"path": "string", "view_range": "array"},
  "bash_tool": {"command": "string", "description": "string"},
  "create_file": {"path": "string", "file_text": "string", "description": "string"},
  "str_replace": {"path": "string", "old_str": "string", "new_str": "string", "description": "string"}
}`

// TestToolsetArguments: what was written for the tools of these names
// elsewhere can call ours.
func TestToolsetArguments(t *testing.T) {
	t.Parallel()
	var wanted map[string]map[string]string
	must(t, json.Unmarshal([]byte(known), &wanted))
	for _, raw := range listTools(t, "toolset=workspace") {
		var tool listedTool
		must(t, json.Unmarshal(raw, &tool))
		var schema struct {
			Properties map[string]struct{ Type string }
			Required   []string
		}
		must(t, json.Unmarshal(tool.InputSchema, &schema))
		for name, kind := range wanted[tool.Name] {
			if schema.Properties[name].Type != kind {
				t.Errorf("%s: %s is %q, want %q", tool.Name, name, schema.Properties[name].Type, kind)
			}
		}
		for _, name := range schema.Required {
			if wanted[tool.Name] != nil && wanted[tool.Name][name] == "" {
				t.Errorf("%s needs %s, which others do not have", tool.Name, name)
			}
		}
		delete(wanted, tool.Name)
	}
	if len(wanted) > 0 {
		t.Errorf("missing: %v", wanted)
	}
}

func checkTool(t *testing.T, tool listedTool) {
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`).MatchString(tool.Name) {
		t.Errorf("name %q is not safe in every host", tool.Name)
	}
	if n := len(tool.Description); n == 0 || n > 2048 {
		t.Errorf("description of %d bytes; Claude Code cuts at 2 KB", n)
	}
	for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"} {
		if _, ok := tool.Annotations[hint]; !ok {
			t.Errorf("annotation %s is not set", hint)
		}
	}
	if tool.Meta["anthropic/alwaysLoad"] != true {
		t.Error("the description would hide behind tool search")
	}
	var schema map[string]any
	must(t, json.Unmarshal(tool.InputSchema, &schema))
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if _, ok := schema[key]; ok {
			t.Errorf("%s at the root makes hosts skip the tool", key)
		}
	}
	if schema["additionalProperties"] != false {
		t.Error("unknown arguments would be taken in silence")
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.InputSchema))
	must(t, err)
	compiler := jsonschema.NewCompiler()
	must(t, compiler.AddResource("mem:///s", document))
	if _, err := compiler.Compile("mem:///s"); err != nil {
		t.Errorf("the schema does not compile: %v", err)
	}
}
