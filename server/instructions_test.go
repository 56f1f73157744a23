package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/testdata"
)

var initialize = map[string]any{
	"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
	"clientInfo": map[string]any{"name": "test", "version": "1"},
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	few := t.TempDir()
	for i := range 3 {
		writeFile(t, filepath.Join(few, fmt.Sprintf("skill-%d", i), "SKILL.md"),
			fmt.Appendf(nil, "---\nname: skill-%d\ndescription: \"Does the %dth \\\"thing\\\".\"\n---\n", i, i))
	}
	for name, root := range map[string]string{
		"none": t.TempDir(), "few": few, "samples": testdata.Valid(), "many": testdata.Generate(t, 1000),
	} {
		t.Run(name, func(t *testing.T) {
			var result struct{ Instructions string }
			newFixture(t, root).request(t, "initialize", initialize, &result)
			if n := len(result.Instructions); n > 2048 {
				t.Errorf("%d bytes; Claude Code cuts at 2 KB", n)
			}
			golden(t, "instructions-"+name+".txt", []byte(result.Instructions))
		})
	}
}

// TestStartupSize: what a host loads at start does not grow with the catalog,
// but for the instructions, and these no further than to their bound.
func TestStartupSize(t *testing.T) {
	t.Parallel()
	const instructions = 2048 // bytes, with all other text of the answer the same
	fixed := newFixture(t, testdata.Generate(t, 0))
	for _, n := range []int{1, 10, 1000} {
		f := newFixture(t, testdata.Generate(t, n))
		for method, most := range map[string]int{"initialize": instructions, "server/discover": instructions, "tools/list": 0} {
			size, least := len(f.exchange(t, method, startupParams(method))), len(fixed.exchange(t, method, startupParams(method)))
			if size > least+most {
				t.Errorf("with %d skills the answer to %s has %d bytes, without any %d", n, method, size, least)
			}
		}
	}
}

func startupParams(method string) any {
	switch method {
	case "initialize":
		return initialize
	case "server/discover":
		return modern(nil)
	}
	return nil
}

// modern adds to parameters what every request of 2026-07-28 carries.
func modern(params map[string]any) map[string]any {
	with := map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "test", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}}
	for key, value := range params {
		with[key] = value
	}
	return with
}

// TestPinned: pinned skills come first, whatever their names.
func TestPinned(t *testing.T) {
	t.Parallel()
	f := newFixture(t, testdata.Generate(t, 1000), "pin=skill-00999")
	var result struct{ Instructions string }
	f.request(t, "initialize", initialize, &result)
	list := result.Instructions[strings.Index(result.Instructions, "\nSkills: ")+1:]
	if !strings.HasPrefix(list, "Skills: skill-00999, ") {
		encoded, _ := json.Marshal(list[:60])
		t.Errorf("the list begins with %s", encoded)
	}
}

// TestWhoInvokes: what an author leaves to users is told to no model, and what is
// left to models is no command of users; either can be read.
func TestWhoInvokes(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, key := range map[string]string{
		"for-all": "", "for-users": "disable-model-invocation: true\n", "for-models": "user-invocable: \"False\"\n", "odd": "disable-model-invocation: [true]\nuser-invocable: maybe\n",
	} {
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Does its thing.\n"+key+"---\nbody of "+name+"\n"))
	}
	c := newFixture(t, root).connect(t)
	exchange := func(method string, params any) string { return string(newFixture(t, root).exchange(t, method, params)) }
	for surface, test := range map[string]struct{ text, missing string }{
		"instructions": {exchange("initialize", initialize), "for-users"},
		"list":         {c.call(t, "findSkills", map[string]any{}).text(), "for-users"},
		"search":       {c.call(t, "findSkills", map[string]any{"query": "thing"}).text(), "for-users"},
		"prompts":      {exchange("prompts/list", map[string]any{}), "for-models"},
		"resources":    {exchange("resources/list", map[string]any{}), "no such"},
	} {
		for _, name := range []string{"for-all", "for-users", "for-models", "odd"} {
			if told := strings.Contains(test.text, name); told == (name == test.missing) {
				t.Errorf("%s: %s is told of: %t", surface, name, told)
			}
		}
	}
	for _, name := range []string{"for-users", "for-models"} {
		if text := c.call(t, "activate", map[string]any{"name": name}).text(); !strings.Contains(text, "body of "+name) {
			t.Errorf("activate: %s", text)
		}
	}
}
