package server_test

import (
	"path/filepath"
	"testing"
)

// TestFaultyAllowedToolsGrantNothing: whoever wrote the key meant to narrow
// what the skill may do, however it is spelled and whatever it holds.
func TestFaultyAllowedToolsGrantNothing(t *testing.T) {
	t.Parallel()
	needBash(t)
	root := t.TempDir()
	faulty := map[string]string{
		"no-value": "allowed-tools:", "null-value": "allowed_tools: null", "no-text": `allowed-tools: ""`, "no-item": "allowed-tools: []",
		"null-item": "allowed-tools: [null]", "mapping": "allowed-tools: {Bash: true}",
		"camel": "allowedTools: Bash", "capital": "Allowed-Tools: Bash", "singular": "allowed-tool: [Bash]",
	}
	plant := func(name, line string) {
		text := "---\nname: " + name + "\ndescription: Runs.\n" + line + "\n---\n"
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte(text))
	}
	for name, line := range faulty {
		plant(name, line)
	}
	plant("none", "license: MIT")
	c := newFixture(t, root).connect(t)
	for name, line := range faulty {
		if a := c.call(t, "exec", map[string]any{"name": name, "command": "true"}); a.code() != "permission_denied" {
			t.Errorf("%s: %s", line, a.text())
		}
	}
	if run := c.exec(t, "none", map[string]any{"command": "echo ran"}); run.Stdout != "ran\n" {
		t.Errorf("without the key: %+v", run)
	}
}
