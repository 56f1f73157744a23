package server_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/activated"
	"github.com/skills-mcp/skills-mcp/server"
)

// A server that is started again in a session says which skills were activated in
// it, of those that there are and that models are told of; in another session, and
// without one, nothing is said.
func TestActivatedBefore(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	for name, more := range map[string]string{"a": "", "b": "", "gone": "", "hidden": "", "mine": "disable-model-invocation: true\n"} {
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Does it.\n"+more+"---\n"))
	}
	began := func(session string, options ...string) *fixture {
		return newFixtureOf(t, root, func(opts *server.Options) {
			if session != "" {
				opts.Activated = activated.New(activated.Options{Dir: filepath.Join(dir, "sessions"), Session: session})
			}
		}, options...)
	}
	const said = "Activated earlier in this session: "
	instructions := func(f *fixture) string {
		var result struct{ Instructions string }
		f.request(t, "initialize", initialize, &result)
		return result.Instructions
	}
	first := began("one")
	if text := instructions(first); strings.Contains(text, said) {
		t.Errorf("at first: %s", text)
	}
	for _, name := range []string{"b", "gone", "hidden", "nobody"} {
		first.exchange(t, "tools/call", map[string]any{"name": "activate", "arguments": map[string]any{"name": name}})
	}
	for _, name := range []string{"a", "mine"} {
		first.exchange(t, "prompts/get", map[string]any{"name": name})
	}
	first.exchange(t, "tools/call", map[string]any{"name": "readResource", "arguments": map[string]any{"name": "a", "path": "SKILL.md"}})
	if text := instructions(began("one", "hide=gone", "hide=hidden")); !strings.Contains(text, "\n\n"+said+"b, a. Where") {
		t.Errorf("in the same session: %s", text)
	}
	for _, session := range []string{"two", ""} {
		if text := instructions(began(session)); strings.Contains(text, said) {
			t.Errorf("in the session %q: %s", session, text)
		}
	}
}

// What is said of a session keeps within the bounds of the instructions.
func TestActivatedBeforeIsBounded(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	memory := activated.New(activated.Options{Dir: filepath.Join(t.TempDir(), "sessions"), Session: "one"})
	last := ""
	for i := range 40 {
		last = fmt.Sprintf("%s-%02d", strings.Repeat("x", 60), i)
		writeFile(t, filepath.Join(root, last, "SKILL.md"), []byte("---\nname: "+last+"\ndescription: "+strings.Repeat("Does it. ", 100)+"\n---\n"))
		memory.Add(last)
	}
	var result struct{ Instructions string }
	newFixtureOf(t, root, func(opts *server.Options) { opts.Activated = memory }).request(t, "initialize", initialize, &result)
	if text := result.Instructions; len(text) > 2048 || !strings.Contains(text, ", "+last+". Where you go on") || !strings.Contains(text, "(findSkills has the rest)") {
		t.Errorf("%d bytes: %s", len(text), text)
	}
}
