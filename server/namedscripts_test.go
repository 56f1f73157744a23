package server_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// isolated says that programs are isolated.
type isolated struct{ sandbox.Backend }

func (i isolated) Info() sandbox.Info {
	info := i.Backend.Info()
	info.Tier = "full"
	return info
}

// TestActivationSaysWhatScriptsMean: instructions are written for hosts that
// start programs in the skill's directory, beside the other skills.
func TestActivationSaysWhatScriptsMean(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	body := map[string]string{
		"none":    "Write `main.py` and see https://example.org/scripts/fill.py, scripts/missing.py and scripts/twice.sh.",
		"own":     "Run `python scripts/own.py --x`, then bash ./scripts/own.sh and ${SKILL_DIR}/scripts/own.py.",
		"whole":   "Run ~/.claude/skills/whole/scripts/own.py.",
		"other":   "Run `python ../pdf/scripts/fill.py`, `node $HOME/skills/pdf/scripts/run.js` and skills/gone/scripts/fill.py.",
		"unnamed": "Run `python scripts/fill.py form.pdf`.",
		"pdf":     "Run nothing.",
		"twin":    "Run nothing.",
		"reader":  "Run `python scripts/own.py`.",
	}
	for skill, text := range body {
		tools := map[string]string{"reader": "allowed-tools: Read\n"}[skill]
		writeFile(t, filepath.Join(root, skill, "SKILL.md"), []byte("---\nname: "+skill+"\ndescription: Runs.\n"+tools+"---\n"+text+"\n"))
	}
	for _, file := range []string{
		"own/scripts/own.py", "own/scripts/own.sh", "whole/scripts/own.py", "pdf/scripts/fill.py", "pdf/scripts/run.js", "pdf/scripts/twice.sh", "twin/scripts/twice.sh", "reader/scripts/own.py",
	} {
		writeFile(t, filepath.Join(root, file), []byte("x\n"))
	}
	c := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend { return isolated{plain} }).connect(t)
	const (
		ownScript = `such as scripts/own.py, call exec {"name": "`
		fill      = `The script scripts/fill.py is one of the skill "pdf": exec {"name": "pdf", "script": "scripts/fill.py"}.`
		run       = `The script scripts/run.js is one of the skill "pdf": exec {"name": "pdf", "script": "scripts/run.js"}.`
	)
	for skill, want := range map[string][]string{"none": nil, "own": {ownScript + `own"`}, "whole": {ownScript + `whole"`}, "other": {fill, run}, "unnamed": {fill}, "reader": nil} {
		text := c.call(t, "activate", map[string]any{"name": skill}).text()
		said := 0
		for _, line := range []string{ownScript, "is one of the skill"} {
			said += strings.Count(text, line)
		}
		if said != len(want) {
			t.Errorf("%s: %d lines about scripts, want %d:\n%s", skill, said, len(want), text)
		}
		for _, line := range want {
			if !strings.Contains(text, line) {
				t.Errorf("%s: %q is not said:\n%s", skill, line, text)
			}
		}
		if strings.Contains(text, "no files of the user") == (skill == "reader") {
			t.Errorf("%s: what programs see:\n%s", skill, text)
		}
	}
	plain := newFixture(t, root).connect(t)
	if text := plain.call(t, "activate", map[string]any{"name": "own"}).text(); strings.Contains(text, "no files of the user") || !strings.Contains(text, ownScript) {
		t.Errorf("without isolation:\n%s", text)
	}
	off := newFixture(t, root, "sandbox=off").connect(t)
	if text := off.call(t, "activate", map[string]any{"name": "own"}).text(); strings.Contains(text, "call exec") {
		t.Errorf("without execution:\n%s", text)
	}
}
