package server_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestPrograms: a program on PATH gets its arguments as they are, and the policy
// decides about it as about a command.
func TestPrograms(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: Runs anything.\n---\n"))
	writeFile(t, filepath.Join(root, "lists", "SKILL.md"), []byte("---\nname: lists\ndescription: Prints.\nallowed-tools: Bash(printf:*)\n---\n"))
	c := newFixture(t, root).connect(t)
	arguments := func(skill, program string, args ...any) map[string]any {
		return map[string]any{"name": skill, "program": program, "args": args}
	}
	for _, skill := range []string{"free", "lists"} {
		a := c.call(t, "exec", arguments(skill, "printf", "<%s>", "$HOME `id` *", "a b", "", ";"))
		if a.IsError || !strings.Contains(a.text(), "<$HOME `id` *><a b><><;>") {
			t.Errorf("%s: %s", skill, a.text())
		}
	}
	a := c.call(t, "exec", map[string]any{"name": "free", "program": "cat", "stdin": "what came in"})
	if a.IsError || !strings.Contains(a.text(), "what came in") {
		t.Errorf("without args: %s", a.text())
	}
	for code, given := range map[string]map[string]any{
		"permission_denied": arguments("lists", "env", "printf", "x"),
		"sandbox_setup":     arguments("free", "no-such-program", "x"),
		"invalid_arguments": {"name": "free", "program": "printf", "command": "true"},
	} {
		if a := c.call(t, "exec", given); a.code() != code {
			t.Errorf("%v gives %s, want %s", given, a.text(), code)
		}
	}
	for _, path := range []string{"/bin/printf", "./printf", "../printf"} {
		if a := c.call(t, "exec", arguments("free", path, "x")); a.code() != "permission_denied" || !strings.Contains(a.text(), "without a path") {
			t.Errorf("%s: %s", path, a.text())
		}
	}
}

// TestToolsAreToldApart: a skill that names create_file or str_replace has that one.
func TestToolsAreToldApart(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, tools := range map[string]string{"creates": "create_file", "replaces": "str_replace", "both": "Write(*.txt)"} {
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Writes.\nallowed-tools: "+tools+"\n---\n"))
	}
	c := newFixture(t, root, "toolset=workspace").connect(t)
	for skill, allowed := range map[string][2]bool{"creates": {true, false}, "replaces": {false, true}, "both": {true, true}} {
		if a := c.call(t, "create_file", map[string]any{"description": "make", "path": "a.txt", "file_text": "old", "name": "both"}); a.IsError {
			t.Fatal(a.text())
		}
		replaced := c.call(t, "str_replace", map[string]any{"description": "change", "path": "a.txt", "old_str": "old", "new_str": "new", "name": skill})
		created := c.call(t, "create_file", map[string]any{"description": "make", "path": "b.txt", "file_text": "x", "name": skill})
		for i, a := range []answer{created, replaced} {
			if want := map[bool]string{false: "permission_denied"}[allowed[i]]; a.code() != want {
				t.Errorf("%s: %s", skill, a.text())
			}
		}
	}
}
