package catalog_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/catalog"
)

// frontmatterFaults are frontmatters, in a directory named "demo", that break
// rules: those without Strict and those with it. A skill is published where
// no broken rule is an Error.
var frontmatterFaults = []struct {
	yaml            string
	lenient, strict string
}{
	{"name: demo\ndescription: x", "", ""},
	{"name: demo\ndescription: x\nlicense: MIT\ncompatibility: any\nmetadata:\n  a: \"1\"\nallowed-tools: Read", "", ""},
	{"name: demo\ndescription: x\nallowed-tools:\n  - Read\n  - Bash(git:*)", "", ""},
	{"description: x", "name-missing", "name-missing"},
	{"name:\ndescription: x", "name-missing", "name-missing"},
	{"name: ' '\ndescription: x", "name-missing", "name-missing"},
	{"name: [demo]\ndescription: x", "name-missing", "name-missing yaml-subset"},
	{"name: ../demo\ndescription: x", "name-unusable", "name-unusable"},
	{"name: ..\ndescription: x", "name-unusable", "name-unusable"},
	{"name: a\\b\ndescription: x", "name-unusable", "name-unusable"},
	{"name: \"a\\nb\"\ndescription: x", "name-unusable", "name-unusable"},
	{"name: \"a\\u202eb\"\ndescription: x", "name-unusable", "name-unusable"},
	{"name: " + strings.Repeat("a", 65) + "\ndescription: x", "name-length", "name-length"},
	{"name: 2024\ndescription: x", "name-directory name-type", "name-directory name-type"},
	{"name: Demo\ndescription: x", "name-directory name-format", "name-directory name-format"},
	{"name: \" demo \"\ndescription: x", "", ""},
	{"name: other\ndescription: x", "name-directory", "name-directory"},
	{"name: demo", "description-missing", "description-missing"},
	{"name: demo\ndescription: ''", "description-missing", "description-missing"},
	{"name: demo\ndescription: {a: b}", "description-missing", "description-missing yaml-subset"},
	{"name: demo\ndescription: 12", "description-type", "description-type"},
	{"name: demo\ndescription: " + strings.Repeat("é", 1024), "", ""},
	{"name: demo\ndescription: " + strings.Repeat("é", 1025), "description-length", "description-length"},
	{"name: demo\ndescription: x\nlicense: [MIT]", "license-type", "license-type yaml-subset"},
	{"name: demo\ndescription: x\ncompatibility: " + strings.Repeat("é", 501), "compatibility-length", "compatibility-length"},
	{"name: demo\ndescription: x\ncompatibility:\n  python: '3'", "compatibility-type", "compatibility-type"},
	{"name: demo\ndescription: x\nmetadata: text", "metadata-type", "metadata-type"},
	{"name: demo\ndescription: x\nmetadata:\n  version: 1.0", "metadata-value", "metadata-value"},
	{"name: demo\ndescription: x\nallowed-tools:\n  a: b", "allowed-tools-type", "allowed-tools-type"},
	{"name: demo\ndescription: x\nallowed-tools:", "allowed-tools-empty", "allowed-tools-empty"},
	{"name: demo\ndescription: x\nallowed-tools: ''", "allowed-tools-empty", "allowed-tools-empty"},
	{"name: demo\ndescription: x\nallowed-tools: []", "allowed-tools-empty", "allowed-tools-empty yaml-subset"},
	{"name: demo\ndescription: x\nallowedTools: Read", "allowed-tools-key", "allowed-tools-key"},
	{"name: demo\ndescription: x\nAllowed-Tools: Read\nallowed-tool: Read", "allowed-tools-key", "allowed-tools-key"},
	{"name: demo\ndescription: x\nallowed-tools:\n  - a: b\n  - Read", "allowed-tools-type", "allowed-tools-type"},
	{"name: demo\ndescription: x\nallowed_tools: Read", "allowed-tools-spelling", "allowed-tools-spelling"},
	{"name: demo\ndescription: x\nallowed_tools: Read\nallowed-tools: Read", "allowed-tools-twice", "allowed-tools-twice"},
	{"name: demo\ndescription: x\nauthor: me\nLicense: MIT", "unknown-key", "unknown-key"},
	{"name: demo\ndescription: x\nmodel: opus\nhooks: x", "extension-key", "extension-key"},
	{"name: demo\ndescription: a: b", "yaml-colon", "yaml-colon"},
	{"name: demo\ndescription: x\nallowed-tools: [Read]", "", "yaml-subset"},
	{"name: demo\ndescription: &a x\nlicense: *a", "", "yaml-subset"},
	{"name: demo\ndescription: !!str x", "", "yaml-subset"},
	{"name: demo\ndescription: !x x", "yaml-tag", "yaml-subset yaml-tag"},
	{"name: demo\ndescription: x\nmetadata:\n  a: .inf", "metadata-value yaml-number", "metadata-value yaml-number"},
}

func TestFrontmatterRules(t *testing.T) {
	t.Parallel()
	severity := map[string]catalog.Rule{}
	for _, rule := range catalog.Rules() {
		severity[rule.Name] = rule
	}
	for _, test := range frontmatterFaults {
		dir := plant(t, map[string]string{"demo/SKILL.md": "---\n" + test.yaml + "\n---\nbody\n"})
		for _, strict := range []bool{false, true} {
			want, published := test.lenient, true
			if strict {
				want = test.strict
			}
			s := open(t, catalog.Options{Roots: []catalog.Root{{Path: dir}}, Strict: strict}).Snapshot()
			if got := rules(s.Problems()); got != want {
				t.Errorf("strict %v: %.60q broke %q, want %q: %v", strict, test.yaml, got, want, s.Problems())
			}
			for _, p := range s.Problems() {
				rule := severity[p.Rule]
				if cost := map[bool]catalog.Severity{false: rule.Lenient, true: rule.Strict}[strict]; p.Severity != cost {
					t.Errorf("strict %v: %s is of severity %v, want %v", strict, p.Rule, p.Severity, cost)
				}
				published = published && p.Severity != catalog.Error
			}
			if got := len(s.Skills()) == 1; got != published {
				t.Errorf("strict %v: %.60q published %v, want %v", strict, test.yaml, got, published)
			}
		}
	}
}

// TestRules holds the table to what its readers rely on.
func TestRules(t *testing.T) {
	t.Parallel()
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for _, rule := range catalog.Rules() {
		if !kebab.MatchString(rule.Name) || seen[rule.Name] {
			t.Errorf("rule name %q is not in kebab case, or not unique", rule.Name)
		}
		seen[rule.Name] = true
		if rule.Hint == "" || rule.Strict < rule.Lenient {
			t.Errorf("rule %s: hint %q, severities %v and %v", rule.Name, rule.Hint, rule.Lenient, rule.Strict)
		}
	}
	catalog.Rules()[0].Name = "changed"
	if catalog.Rules()[0].Name == "changed" {
		t.Error("the caller changed the table")
	}
}

// TestNames holds names to the rule of the reference validator: after NFKC,
// letters and digits of any script in lower case, and single inner hyphens.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"a": true, "pdf-processing": true, "a-1-b": true, "1": true, "日本語": true, "café": true,
		"caf\u0065\u0301": true, "навык": true, "１２": true, "ﬁle": true, "ß": true, "ª": true, "٣": true, "²": true,
		"Pdf": false, "-a": false, "a-": false, "a--b": false, "a_b": false, "a b": false, "a.b": false, "É": false,
		"İ": false, "a!": false, "😀": false, "नमस्ते": false, "a–b": false,
	} {
		dir := plant(t, map[string]string{name + "/SKILL.md": skillText("'"+name+"'", "x")})
		s := open(t, catalog.Options{Roots: []catalog.Root{{Path: dir}}, Strict: true}).Snapshot()
		if _, ok := s.Lookup(name); ok != valid {
			t.Errorf("%q: accepted %v, want %v: %v", name, ok, valid, s.Problems())
		}
		if !valid {
			wantRules(t, s.Problems(), "name-format")
		}
	}
}

// TestSpecMode: what breaks the specification in its name or description is left
// out, and other faults are forgiven as they are without the mode.
func TestSpecMode(t *testing.T) {
	t.Parallel()
	for text, published := range map[string]bool{
		"name: demo\ndescription: x":                                true,
		"name: demo\ndescription: x\nauthor: me\nmodel: opus":       true,
		"name: demo\ndescription: x\nallowed_tools: Read":           true,
		"name: demo\ndescription: x\nlicense: [MIT]":                true,
		"name: demo\ndescription: x\nmetadata:\n  version: 1.0":     true,
		"name: demo\ndescription: x\ncompatibility:\n  python: '3'": true,
		"name: Demo\ndescription: x":                                false,
		"name: other\ndescription: x":                               false,
		"name: de--mo\ndescription: x":                              false,
		"name: demo\ndescription: " + strings.Repeat("é", 1025):     false,
		"name: demo\ndescription: 12":                               false,
		"name: demo":                                                false,
	} {
		dir := plant(t, map[string]string{"demo/SKILL.md": "---\n" + text + "\n---\nbody\n"})
		s := open(t, catalog.Options{Roots: []catalog.Root{{Path: dir}}, Spec: true}).Snapshot()
		if got := len(s.Skills()) == 1; got != published {
			t.Errorf("%.60q is published: %v, want %v: %v", text, got, published, s.Problems())
		}
	}
	dir := plant(t, map[string]string{"demo/skill.md": skillText("demo", "x")})
	s := open(t, catalog.Options{Roots: []catalog.Root{{Path: dir}}, Spec: true}).Snapshot()
	if len(s.Skills()) != 0 || rules(s.Problems()) != "entry-lowercase" {
		t.Errorf("a skill.md is published: %v", s.Problems())
	}
}
