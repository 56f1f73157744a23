package schemas_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/schemas"
	"github.com/skills-mcp/skills-mcp/internal/jsonschema"
	"github.com/skills-mcp/skills-mcp/testdata"
)

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	raw, found := schemas.Of(name)
	if !found {
		t.Fatalf("there is no schema of %s", name)
	}
	schema, err := jsonschema.Compile(raw)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func TestSchemasAreValid(t *testing.T) {
	t.Parallel()
	for _, name := range schemas.Names() {
		compiled(t, name)
	}
}

// beyond are rules of which the schema of a frontmatter knows nothing: of the file,
// of how YAML is written, of what a value means.
var beyond = []string{
	"name-directory", "entry-", "frontmatter-", "yaml-", "byte-order-mark", "encoding", "body-encoding", "allowed-tools-empty", "name-taken",
}

// TestSkillSchema holds the schema to the validator, over the table of verdicts.
func TestSkillSchema(t *testing.T) {
	t.Parallel()
	cases, root := testdata.ReferenceCases(t), t.TempDir()
	own := func(i int) string { return filepath.Join(root, fmt.Sprint("case-", i)) }
	for i, c := range cases {
		c.Write(t, own(i))
	}
	strict, err := catalog.Open(t.Context(), catalog.Options{Roots: []catalog.Root{{Path: root}}, Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	defer strict.Close()
	told := map[string][]string{} // rules, by the directory of the case
	for _, p := range strict.Snapshot().Problems() {
		if !slices.ContainsFunc(beyond, func(rule string) bool { return strings.HasPrefix(p.Rule, rule) }) {
			below, _ := filepath.Rel(root, p.File)
			dir, _, _ := strings.Cut(filepath.ToSlash(below), "/")
			told[filepath.Join(root, dir)] = append(told[filepath.Join(root, dir)], p.Rule)
		}
	}
	schema, compared := compiled(t, "skill"), 0
	for i, c := range cases {
		document, problems := catalog.ParseDocument("", c.Content)
		foreign := strings.ContainsFunc(string(document.Frontmatter), func(c rune) bool { return c > '~' }) // whose capitals no pattern knows
		if document.Frontmatter == nil || len(problems) > 0 || foreign || !strings.HasSuffix(c.File, "/SKILL.md") {
			continue
		}
		faults, rules := schema.Faults(document.Frontmatter), told[own(i)]
		mistyped := slices.ContainsFunc(faults, func(fault string) bool { return strings.Contains(fault, ": got ") }) // which the validator reads as text
		if (len(rules) == 0) != (len(faults) == 0) && !mistyped {
			t.Errorf("line %d: %.100s: the schema finds %q, the validator %v", c.Line, document.Frontmatter, faults, rules)
		}
		compared++
	}
	if compared < 150 {
		t.Errorf("only %d were compared", compared)
	}
}

// TestToolsSchema holds the schema to the reader, over each tool of the samples.
func TestToolsSchema(t *testing.T) {
	t.Parallel()
	var tools []string
	for _, pattern := range []string{"valid/*", "hostile/tools-*"} {
		files, err := filepath.Glob(filepath.Join(testdata.Dir(), "skills", pattern, "tools.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var list struct{ Tools []json.RawMessage }
			if json.Unmarshal(text, &list) == nil {
				for _, tool := range list.Tools {
					tools = append(tools, string(tool))
				}
			}
		}
	}
	const named = `"name": "a", "description": "d"`
	for _, rest := range []string{
		``, `, "run": ["x"]`, `, "argv": ["x", "{y}"], "inputSchema": {"type": "object", "properties": {"y": {"type": "integer"}}}`,
		`, "command": "x"`, `, "command": "x", "args": ["a"]`, `, "command": "x", "args": [1]`, `, "command": ["x"]`, `, "run": "x"`, `, "run": [" "]`, `, "run": ["x", null]`,
		`, "run": ["/bin/sh"]`, `, "run": ["a:b"]`, `, "run": ["{a}"]`, `, "run": ["a\\b"]`, `, "run": ["x\u0000"]`, `, "run": ["x", "\u0000"]`, `, "run": ["scripts/x.py"]`,
		`, "run": ["x"], "cwd": "skill"`, `, "run": ["x"], "cwd": "home"`, `, "run": ["x"], "timeoutMs": 0`, `, "run": ["x"], "timeout_ms": 86400000`, `, "run": ["x"], "timeout_ms": 86400001`,
		`, "run": ["x"], "input_schema": {"type": "string"}`, `, "run": ["x"], "inputSchema": {}`, `, "run": ["x"], "inputSchema": 1`, `, "run": ["x"], "shell": true`,
	} {
		tools = append(tools, "{"+named+rest+"}")
	}
	tools = append(tools, `{"name": "a b", "description": "d", "run": ["x"]}`, `{"name": "a", "run": ["x"]}`, `{"name": "a", "description": " ", "run": ["x"]}`, `1`, `null`)
	schema := compiled(t, "tools")
	for _, tool := range tools {
		_, problems := catalog.ParseTools("tools.json", []byte("["+tool+"]"))
		problems = slices.DeleteFunc(problems, func(p catalog.Problem) bool {
			return slices.Contains([]string{"tools-option", "tools-script", "tools-placeholder"}, p.Rule)
		})
		// What a path leads to and a schema refers to, the reader alone knows.
		if strings.Contains(tool, "..") || strings.Contains(tool, "$ref") {
			continue
		}
		for _, file := range []string{"[" + tool + "]", `{"tools": [` + tool + `]}`} {
			if faults := schema.Faults([]byte(file)); (len(faults) == 0) != (len(problems) == 0) {
				t.Errorf("%s: the schema finds %q, the reader %v", file, faults, problems)
			}
		}
	}
}
