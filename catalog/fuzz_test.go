package catalog_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skills-mcp/skills-mcp/catalog"
)

var documentSeeds = []string{
	"", "---\n---\n", "---\nname: a\ndescription: b\n---\nbody", "\ufeff---\r\na: b\r\n---\r\nx", "---\na: [1, 0x1F, 1.10, ~, yes]\n---\n",
	"---\na: &a {b: *a}\n---\n", "---\na: &a b\n*a : c\n---\n", "---\n? - a\n: b\n---\n", "---\na: |\n  x\nb: >-\n  y\n---\n",
	"---\na: Use when: b\n  c: d\n---\n", "---\na: \"\\ud83d\\ude00\\/\"\n---\n", "---\na: [http://x?y, :z, ?]\n---\n", "---\na: ! 12\nb: !!int x\n---\n",
	"---\n<<: {a: b}\n---\n", "---\n# c\n\n---\n", "---\na: b\n...\n--- c\n---\n", "---\n%YAML 1.1\n---\na: b\n", "---\na: \xff\n---\n\xff", bomb(4),
	"---\na: \U000f0000\u2028\n---\n", "---\n- a\n-\n -b: c\n---\n", "---\n{a: b, c: [d, {e: f}]}\n---\n",
}

// FuzzParseDocument holds: valid JSON, an object, or an error; UTF-8; no
// panic; the body as it stands.
func FuzzParseDocument(f *testing.F) {
	if len(documentSeeds) == 0 {
		f.Fatal("the seed corpus is empty")
	}
	for _, seed := range documentSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, problems := catalog.ParseDocument("f", data)
		failed := false
		for _, p := range problems {
			failed = failed || p.Severity == catalog.Error
			if p.Rule == "" || p.Message == "" || p.Hint == "" || !utf8.ValidString(p.Message) || p.Line < 0 || p.Column < 0 {
				t.Errorf("problem lacks something: %+v", p)
			}
		}
		if failed == (doc.Frontmatter != nil) {
			t.Errorf("frontmatter %q with problems %v", doc.Frontmatter, problems)
		}
		if doc.Frontmatter != nil {
			if !json.Valid(doc.Frontmatter) || doc.Frontmatter[0] != '{' || !utf8.Valid(doc.Frontmatter) {
				t.Errorf("not a JSON object: %q", doc.Frontmatter)
			}
		}
		if !utf8.ValidString(doc.Body) {
			t.Errorf("the body is not UTF-8: %q", doc.Body)
		}
		if utf8.Valid(data) && !bytes.HasSuffix(data, []byte(doc.Body)) {
			t.Errorf("the body %q is not the end of the document", doc.Body)
		}
	})
}

var toolsSeeds = []string{
	"", "[]", "{}", `{"tools":[]}`, `[{"name":"a","description":"b","inputSchema":{"type":"object"},"run":["a","{b}"],"timeoutMs":1}]`,
	`{"tools":[{"name":"a","argv":["../a"]}],"x":[{}]}`, `[[[]]]`, `[1,"a",null,{"name":"\ud83d"}]`, "\ufeff[]", `[{"name":"a","run":[null]}]`,
}

// FuzzParseTools holds: every tool that is given can be run as documented.
func FuzzParseTools(f *testing.F) {
	if len(toolsSeeds) == 0 {
		f.Fatal("the seed corpus is empty")
	}
	for _, seed := range toolsSeeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tools, problems := catalog.ParseTools("f", data)
		seen := map[string]bool{}
		for _, tool := range tools {
			var schema map[string]any
			if json.Unmarshal(tool.InputSchema, &schema) != nil || schema["type"] != "object" {
				t.Errorf("schema %s", tool.InputSchema)
			}
			if tool.Name == "" || len(tool.Name) > 64 || seen[tool.Name] {
				t.Errorf("name %q", tool.Name)
			}
			seen[tool.Name] = true
			if len(tool.Argv) == 0 || strings.HasPrefix(tool.Argv[0], "/") || strings.Contains("/"+tool.Argv[0]+"/", "/../") || tool.TimeoutMs < 0 {
				t.Errorf("run %q, %d ms", tool.Argv, tool.TimeoutMs)
			}
		}
		for _, p := range problems {
			if p.Rule == "" || p.Message == "" || !utf8.ValidString(p.Message) {
				t.Errorf("problem lacks something: %+v", p)
			}
		}
	})
}
