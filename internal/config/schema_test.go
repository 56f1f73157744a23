package config_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/skills-mcp/skills-mcp/internal/config"
)

var update = flag.Bool("update", false, "write the schema and the table of keys")

const (
	schemaFile = "../../docs/config.schema.json"
	page       = "../../docs/configuration.md"
)

// TestPublishedSchema: docs/config.schema.json is what the reader says.
func TestPublishedSchema(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile(schemaFile, config.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	published, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(config.Schema()), string(published)); diff != "" {
		t.Errorf("go test ./internal/config -update writes it (-want +got):\n%s", diff)
	}
}

// TestDocumentedKeys: docs/configuration.md has the table of keys.
func TestDocumentedKeys(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), "<!-- keys -->\n")
	table, after, ends := strings.Cut(rest, "<!-- /keys -->\n")
	if !begins || !ends {
		t.Fatalf("%s has no table of keys", page)
	}
	if *update {
		table = config.Table()
		if err := os.WriteFile(page, []byte(before+"<!-- keys -->\n"+table+"<!-- /keys -->\n"+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(config.Table(), table); diff != "" {
		t.Errorf("go test ./internal/config -update writes it (-want +got):\n%s", diff)
	}
}

// TestDocumentedExamples: the files that docs/configuration.md shows can be used,
// and are what the schema accepts.
func TestDocumentedExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?ms)^```yaml ([^\n]+)\n(.*?)^```$").FindAllStringSubmatch(string(text), -1)
	seen := map[string]bool{}
	for _, example := range examples {
		name, file := example[1], example[2]
		seen[name] = true
		switch name {
		case "config.yaml":
			mustLoad(t, file, config.Sources{})
		case config.ProjectFile:
			if _, err := narrow(t, "", file, config.Sources{}); err != nil {
				t.Error(err)
			}
		default:
			continue
		}
		if err := validate(t, schema(t), file); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !seen["config.yaml"] || !seen[config.ProjectFile] {
		t.Errorf("%s shows %v", page, seen)
	}
}

func schema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(config.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("config.schema.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("config.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// validate holds a file, as another reader of YAML sees it, to the schema. What
// that one refuses, such as a tab alone, no editor shows as good.
func validate(t testing.TB, schema *jsonschema.Schema, file string) error {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(file), &value); err != nil {
		return nil
	}
	if value == nil {
		value = map[string]any{}
	}
	return schema.Validate(value)
}

// FuzzRead: the reader never panics, accepts nothing that the schema refuses of
// what another reader of YAML sees, and reads what is printed as the same. No
// project's file widens anything.
func FuzzRead(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(seeds) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range seeds {
		seed, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(seed))
	}
	for _, seed := range []string{
		"", "roots: [x]", "strict: yes", "limits: {timeout: 1.5h}", "disabled: [2001-01-01, 0x1, 1e3, .5, 1_000]", "pin: [&a x, *a]",
		"poll: 0s\n---\n", "skills: {a: {limits: {memory: 16MiB}}}", "<<: {}", "? strict\n: true", "!!map {}", "%YAML 1.1\n---\nstrict: true\n",
		"project: {shares: [/a:read, {path: ~/x}]}", "roots: [{path: x, visible: [a]}, {path: y, visible: true}]", "{\"strict\": true}",
		"sandbox: {maxRuns: 1_0}", "sandbox: {maxRuns: +1}", "disabled: [a\u0085b]", "log:\n  level: \"debug\"\n  format: 'json'\n",
	} {
		f.Add(seed)
	}
	compiled := schema(f)
	f.Fuzz(func(t *testing.T, file string) {
		first, err := load(t, file, config.Sources{})
		if err == nil {
			if err := validate(t, compiled, file); err != nil {
				t.Errorf("the schema refuses what was accepted: %v", err)
			}
			second := mustLoad(t, string(first.YAML()), config.Sources{})
			if diff := cmp.Diff(first.Config, second.Config, cmpopts.EquateEmpty(), compareGrants); diff != "" {
				t.Errorf("%s\n%s", first.YAML(), diff)
			}
		}
		narrowed, err := narrow(t, "", file, config.Sources{})
		if err != nil {
			isStrictest(t, narrowed)
			return
		}
		notWider(t, &narrowed.Config)
	})
}

// notWider holds a configuration to the defaults.
func notWider(t *testing.T, c *config.Config) {
	t.Helper()
	usual := config.Default()
	for name := range c.Skills {
		own, most := c.Skill(name).Limits, usual.Limits
		if own.Timeout > most.Timeout || own.Memory > most.Memory || own.Processes > most.Processes {
			t.Errorf("%s may use more: %+v", name, own)
		}
	}
	if c.Limits.Timeout > usual.Limits.Timeout || c.Limits.Memory > usual.Limits.Memory || c.Limits.WorkspaceFiles > usual.Limits.WorkspaceFiles {
		t.Errorf("more may be used: %+v", c.Limits)
	}
	if backend := c.Sandbox.Backend; backend != "off" && backend != "auto" || c.Project.Access == "write" || c.AllowedTools == "log" {
		t.Errorf("wider: %+v", c)
	}
	if len(c.Project.Shares) > 0 || len(c.Project.Write) > 0 || len(c.Project.Shown) > 0 || len(c.Sandbox.Show) > 0 {
		t.Errorf("more is seen or written: %+v", c)
	}
	if diff := cmp.Diff(usual.Roots, c.Roots); diff != "" {
		t.Error(diff)
	}
}
