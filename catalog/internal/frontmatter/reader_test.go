package frontmatter_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/skills-mcp/skills-mcp/catalog/internal/frontmatter"
	"github.com/skills-mcp/skills-mcp/catalog/internal/problem"
	"github.com/skills-mcp/skills-mcp/testdata"
)

// forms are those of which the frontmatter of skills is made. Dates and plain
// scalars that only YAML 1.1 takes for another type are not among them: what
// becomes of those is not what this reader makes of them.
var forms = map[string]string{
	"plain":          "name: a-b\ndescription: Does a thing, and \"another\".\nn: 12\nf: 1.5\nt: true\nz: null\nempty:\n",
	"quoted":         "a: 'it''s'\nb: \"tab\\tnewline\\n\\u00e9\"\nc: '12'\nd: \"\"\n",
	"folded":         "description: >\n  One line,\n  and the next.\n\n  A paragraph.\nnext: 1\n",
	"folded, strip":  "description: >-\n  One line,\n  and the next.\n",
	"literal":        "text: |\n  a\n    b\n\n  c\n",
	"literal, keep":  "text: |+\n  a\n\nnext: x\n",
	"continued":      "description: begins here\n  and goes on\n  there\nname: x\n",
	"list":           "allowed-tools:\n  - Bash(git:*)\n  - Read\nother: [a, \"b, c\", {d: e}]\n",
	"list, no depth": "allowed-tools:\n- Read\n- Write\n",
	"mapping":        "metadata:\n  author: Someone\n  version: \"1.0\"\n  nested: {a: [1, 2], b: ~}\n",
	"comments":       "# first\nname: x # after\n\n# between\ndescription: a#b\n",
	"anchors":        "a: &x [1, 2]\nb: *x\n",
	"CRLF":           "name: x\r\ndescription: |\r\n  a\r\n  b\r\n",
	"beyond ASCII":   "name: größe\ndescription: 日本語 😀\n",
}

// TestReadsAsYAMLv3: what skills are made of is read as by the reader that most
// other Go programs have.
func TestReadsAsYAMLv3(t *testing.T) {
	t.Parallel()
	documents := map[string][]byte{}
	for name, form := range forms {
		documents[name] = []byte(form)
	}
	samples, err := filepath.Glob(filepath.Join(testdata.Valid(), "*", "SKILL.md"))
	if err != nil || len(samples) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, sample := range samples {
		data, err := os.ReadFile(sample)
		if err != nil {
			t.Fatal(err)
		}
		documents[sample] = frontmatter.Split(new(problem.Report), data, true).YAML
	}
	for name, source := range documents {
		t.Run(filepath.Base(filepath.Dir(name))+"/"+filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			var report problem.Report
			read, ok := frontmatter.Decode(&report, source, 1)
			if !ok || len(report.Problems) > 0 {
				t.Fatalf("%+v", report.Problems)
			}
			var want, got any
			if err := yaml.Unmarshal(source, &want); err != nil {
				t.Fatal(err)
			}
			encoded, err := json.Marshal(want)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(encoded, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(read.JSON, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-yaml.v3 +ours):\n%s", diff)
			}
		})
	}
}
