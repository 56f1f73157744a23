package catalog_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skills-mcp/skills-mcp/catalog"
)

func TestSkillFields(t *testing.T) {
	t.Parallel()
	dir := plant(t, map[string]string{
		"full/SKILL.md": "\ufeff---\r\nname: full\r\ndescription: >\r\n  Does it.\r\n  Well.\r\nlicense: Apache-2.0\r\n" +
			"compatibility: {python: \">=3\", needs: [git]}\r\nmetadata: {author: me, version: 1.10, tags: [a, 1]}\r\n" +
			"allowed-tools: Bash(git:*), Read\r\n---\r\nbody\r\n",
		"full/tools.json": "[]",
	})
	c := open(t, catalog.Options{Roots: []catalog.Root{{Path: "/nonexistent", Optional: true}, {Path: dir, Prefix: "acme/x"}}})
	got := *lookup(t, c.Snapshot(), "full")
	want := catalog.Skill{
		Name: "full", Description: "Does it. Well.", Path: "acme/x/full", Dir: filepath.Join(dir, "full"), Entry: "SKILL.md", Root: 1,
		Compatibility: `{"python":">=3","needs":["git"]}`,
		AllowedTools:  []string{"Bash(git:*), Read"},
		Frontmatter: []byte(`{"name":"full","description":"Does it. Well.\n","license":"Apache-2.0",` +
			`"compatibility":{"python":">=3","needs":["git"]},"metadata":{"author":"me","version":1.1,"tags":["a",1]},` +
			`"allowed-tools":"Bash(git:*), Read"}`),
		HasTools: true,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(catalog.Skill{})); diff != "" {
		t.Error(diff)
	}
}

// A skill's problems are those of the document that it was read from: not those
// of another skill of that name, nor of a later version that cannot be used.
func TestSkillProblems(t *testing.T) {
	t.Parallel()
	first := plant(t, map[string]string{"a/SKILL.md": skillText("a", "good"), "b/SKILL.md": "---\nname: b\ndescription: Use when: asked.\nmood: good\n---\n"})
	second := plant(t, map[string]string{"a/SKILL.md": "---\nname: a\ndescription: Use when: asked.\n---\n"})
	c := openDirs(t, first, second)
	s := c.Snapshot()
	wantRules(t, s.Problems(), "name-taken unknown-key yaml-colon")
	wantRules(t, lookup(t, s, "a").Problems(), "")
	wantRules(t, lookup(t, s, "b").Problems(), "unknown-key yaml-colon")
	write(t, filepath.Join(first, "a/SKILL.md"), "broken")
	write(t, filepath.Join(first, "b/SKILL.md"), "broken")
	s = rescan(t, c)
	wantRules(t, lookup(t, s, "a").Problems(), "")
	wantRules(t, lookup(t, s, "b").Problems(), "unknown-key yaml-colon")
	write(t, filepath.Join(first, "b/SKILL.md"), skillText("b", "good"))
	wantRules(t, lookup(t, rescan(t, c), "b").Problems(), "")
}

func TestAllowedTools(t *testing.T) {
	t.Parallel()
	for yaml, want := range map[string][]string{
		"license: x":                              nil,
		"allowed-tools:":                          {},
		"allowed-tools: null":                     {},
		"allowed-tools: ', '":                     {},
		"allowed-tools: [null, '']":               {},
		"allowedTools: Bash":                      {},
		"Allowed-Tools: Bash":                     {},
		"ALLOWED_TOOLS: Bash":                     {},
		"allowed tools: Bash":                     {},
		"allowed-tool: Bash":                      {},
		"allow-tools: Bash":                       {},
		"alowed-tools: Bash":                      {},
		"'allowed-tools ': Bash":                  {},
		"allowed—tools: Bash":                     {},
		"ａｌｌｏｗｅｄ-tools: Bash":                     {},
		"\u0430llowed-tools: Bash":                {}, // Cyrillic
		"allowedTools:":                           {},
		"allowedTools: Bash\nallowed-tools: Read": {"Read"},
		"disallowed-tools: Bash":                  nil,
		"allowed-hosts: a":                        nil,
		"tools: Bash":                             nil,
		"allowed-tools: ''":                       {},
		"allowed-tools: []":                       {},
		"allowed-tools: {Read: x}":                {},
		"allowed-tools: [{a: b}]":                 {},
		"allowed-tools: Read Grep":                {"Read Grep"},
		"allowed-tools: [Read, 'Bash(git:*)', 1]": {"Read", "Bash(git:*)", "1"},
		"allowed_tools: [Read]":                   {"Read"},
		"allowed_tools: [Bash]\nallowed-tools: x": {"x"},
		"allowed-tools: Bash(npm run: *)":         {"Bash(npm run: *)"},
		"a: &r Read\nallowed-tools: [*r]":         {"Read"},
	} {
		dir := plant(t, map[string]string{"demo/SKILL.md": "---\nname: demo\ndescription: x\n" + yaml + "\n---\n"})
		got := lookup(t, openDirs(t, dir).Snapshot(), "demo").AllowedTools
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", yaml, diff)
		}
	}
}

func TestLongDescriptionIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("日", 2000)
	dir := plant(t, map[string]string{"demo/SKILL.md": skillText("demo", long)})
	skill := lookup(t, openDirs(t, dir).Snapshot(), "demo")
	if n := utf8.RuneCountInString(skill.Description); n != 1024 || !strings.HasSuffix(skill.Description, "日…") {
		t.Errorf("the description has %d characters and ends in %q", n, skill.Description[len(skill.Description)-6:])
	}
	if !strings.Contains(string(skill.Frontmatter), long) {
		t.Error("the frontmatter lost the description")
	}
}

// TestReadFrom: a skill knows the document that it was read from, and the
// faulty one that it outlived, in any directory, and no other.
func TestReadFrom(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"first": skillText("demo", "One."), "second": skillText("demo", "Two."), "broken": "---\nname: [\n---\n", "worse": "---\nname: {\n---\n",
	}
	root := plant(t, map[string]string{"demo/SKILL.md": texts["first"]})
	c := openDirs(t, root)
	known := func(want ...string) {
		t.Helper()
		skill := lookup(t, c.Snapshot(), "demo")
		for name, text := range texts {
			copied := plant(t, map[string]string{"SKILL.md": text})
			if skill.ReadFrom(copied) != slices.Contains(want, name) {
				t.Errorf("read from %s: %v, want %q", name, skill.ReadFrom(copied), want)
			}
		}
		if skill.ReadFrom(t.TempDir()) {
			t.Error("read from nothing")
		}
	}
	known("first")
	for _, step := range []struct {
		save string
		want []string
	}{{"broken", []string{"first", "broken"}}, {"worse", []string{"first", "worse"}}, {"second", []string{"second"}}, {"broken", []string{"second", "broken"}}} {
		write(t, filepath.Join(root, "demo/SKILL.md"), texts[step.save])
		if _, ok, err := c.Refresh(t.Context(), "demo"); err != nil || !ok {
			t.Fatal(err)
		}
		known(step.want...)
	}
}
