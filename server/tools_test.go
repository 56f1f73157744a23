package server_test

import (
	"bytes"
	"encoding/json"
	"regexp"
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
	f := newFixture(t, testdata.Valid())
	var list struct{ Tools []json.RawMessage }
	f.request(t, "tools/list", nil, &list)
	if len(list.Tools) != 4 {
		t.Fatalf("%d tools", len(list.Tools))
	}
	for _, raw := range list.Tools {
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
