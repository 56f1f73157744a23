package server_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	hiddenSkill = "---\nname: hush\ndescription: Takes notes of secrets.\nallowed-tools: Bash\nodd-key: x\n---\nWrite them to $ARGUMENTS.\n"
	hiddenTools = `[{"name": "tell", "description": "Tells.", "argv": ["scripts/tell.sh"], "inputSchema": {"type": "object"}}]`
)

// surfaces are requests that name a skill, or list those that there are, on
// every way to skills that there is.
var surfaces = []struct{ method, params string }{
	{"tools/list", `{}`},
	{"tools/call", `{"name": "findSkills", "arguments": {}}`},
	{"tools/call", `{"name": "findSkills", "arguments": {"query": "secrets"}}`},
	{"tools/call", `{"name": "findSkills", "arguments": {"query": "hush"}}`},
	{"tools/call", `{"name": "activate", "arguments": {"name": "hush"}}`},
	{"tools/call", `{"name": "activate", "arguments": {"name": "hussh"}}`},
	{"tools/call", `{"name": "readResource", "arguments": {"name": "hush", "path": "SKILL.md"}}`},
	{"tools/call", `{"name": "readResource", "arguments": {"name": "hush", "path": "."}}`},
	{"tools/call", `{"name": "exec", "arguments": {"name": "hush", "script": "scripts/tell.sh"}}`},
	{"tools/call", `{"name": "exec", "arguments": {"name": "hush", "command": "echo hello"}}`},
	{"tools/call", `{"name": "exec", "arguments": {"name": "hush", "tool": "tell"}}`},
	{"tools/call", `{"name": "bash_tool", "arguments": {"description": "run", "command": "echo hello", "name": "hush"}}`},
	{"tools/call", `{"name": "create_file", "arguments": {"description": "write", "path": "a.txt", "file_text": "x", "name": "hush"}}`},
	{"prompts/list", `{}`},
	{"prompts/get", `{"name": "hush", "arguments": {"arguments": "x"}}`},
	{"resources/list", `{}`},
	{"resources/templates/list", `{}`},
	{"resources/read", `{"uri": "skill://hush/SKILL.md"}`},
	{"resources/read", `{"uri": "skill://hush"}`},
	{"resources/read", `{"uri": "skill://index.json"}`},
	{"resources/read", `{"uri": "skills://problems"}`},
	{"resources/subscribe", `{"uri": "skill://hush/SKILL.md"}`},
	{"resources/directory/read", `{"uri": "skill://hush"}`},
	{"skills/list", `{}`},
	{"skills/get", `{"uri": "skill://hush/SKILL.md"}`},
	{"completion/complete", `{"ref": {"type": "ref/prompt", "name": "hush"}, "argument": {"name": "arguments", "value": ""}}`},
	{"completion/complete", `{"ref": {"type": "ref/resource", "uri": "skill://{+skill}/{+file}"}, "argument": {"name": "skill", "value": "hu"}}`},
	{"completion/complete", `{"ref": {"type": "ref/resource", "uri": "skill://{+skill}/{+file}"}, "argument": {"name": "file", "value": ""}, "context": {"arguments": {"skill": "hush"}}}`},
}

// TestHiddenSkill: on no surface does a hidden skill answer otherwise than one
// that is not there; and each surface would show it.
func TestHiddenSkill(t *testing.T) {
	t.Parallel()
	without := answersOf(t, false)
	hidden := answersOf(t, true, "hide=hush")
	shown := answersOf(t, true)
	var constant []string
	for i, surface := range surfaces {
		name := surface.method + " " + surface.params
		if diff := cmp.Diff(without[i], hidden[i]); diff != "" {
			t.Errorf("%s (-without +hidden):\n%s", name, diff)
		}
		if without[i] == shown[i] {
			constant = append(constant, name)
		}
	}
	if diff := cmp.Diff(without[len(surfaces)], hidden[len(surfaces)]); diff != "" {
		t.Errorf("instructions (-without +hidden):\n%s", diff)
	}
	if without[len(surfaces)] == shown[len(surfaces)] {
		t.Error("the instructions do not name the skill where it is there")
	}
	// The lists of tools and templates, a subscription, and the completion of a
	// prompt's text are the same for every skill.
	if len(constant) > 4 {
		t.Errorf("these do not show a skill that is there: %q", constant)
	}
}

// answersOf returns the answers to all surfaces, and the instructions, of a
// server with or without the skill hush.
func answersOf(t *testing.T, with bool, options ...string) []string {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "note/SKILL.md"), []byte(noteSkill))
	if with {
		writeFile(t, filepath.Join(root, "hush/SKILL.md"), []byte(hiddenSkill))
		writeFile(t, filepath.Join(root, "hush/tools.json"), []byte(hiddenTools))
		writeFile(t, filepath.Join(root, "hush/scripts/tell.sh"), []byte("#!/bin/sh\necho told\n"))
	}
	f := newFixture(t, root, append(options, "pin=hush", "toolset=workspace", "compat-index")...)
	c := f.connect(t)
	var answers []string
	for _, surface := range surfaces {
		reply := c.ask(t, surface.method, json.RawMessage(surface.params))
		text, err := json.Marshal(reply)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, normal(strings.ReplaceAll(string(text), root, "ROOT")))
	}
	instructions, _, _ := strings.Cut(c.transcript(), "\n")
	return append(answers, instructions)
}

// normal takes out of an answer what differs between two servers.
func normal(answer string) string {
	answer = regexp.MustCompile(`"id":"?[0-9]+"?,?`).ReplaceAllString(answer, "")
	answer = regexp.MustCompile(`"(ID|lastModified)":"[^"]*",?`).ReplaceAllString(answer, "")
	answer = regexp.MustCompile(`ws-[0-9a-f]{32}`).ReplaceAllString(answer, "WORKSPACE")
	return regexp.MustCompile(`\b[0-9]+ ms\b|"(?:duration|cpu)Ms":[0-9]+`).ReplaceAllString(answer, "TIME")
}

// TestHiddenSkillChanges: clients hear of nothing that becomes of a hidden
// skill, whatever they subscribed to.
func TestHiddenSkillChanges(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "note/SKILL.md"), []byte(noteSkill))
	writeFile(t, filepath.Join(root, "hush/SKILL.md"), []byte(hiddenSkill))
	f := newFixture(t, root, "hide=hush")
	f.watch(t)
	c := f.connect(t)
	c.ask(t, "resources/subscribe", map[string]any{"uri": "skill://hush/SKILL.md"})
	edit(t, func(round int) {
		writeFile(t, filepath.Join(root, "hush/SKILL.md"), []byte(hiddenSkill+strings.Repeat("x", round)))
		writeFile(t, filepath.Join(root, "note/SKILL.md"), []byte(strings.Replace(noteSkill, "Takes", "Takes"+strings.Repeat(" more", round+1), 1)))
	}, func() bool { return strings.Contains(c.transcript(), "notifications/resources/list_changed") })
	if text := c.transcript(); strings.Contains(text, `resources/updated`) || strings.Contains(text, "Takes notes of secrets") {
		t.Errorf("the client heard of it:\n%s", text)
	}
}
