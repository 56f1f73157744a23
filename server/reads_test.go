package server_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// narrowFixture has a skill that may read some of its files, one that may read
// none, and one that may read all.
func narrowFixture(t *testing.T, options ...string) *fixture {
	root := t.TempDir()
	for skill, tools := range map[string]string{"narrow": "allowed-tools: Read(references/**)\n", "blind": "allowed-tools: Bash\n", "free": ""} {
		writeFile(t, filepath.Join(root, skill, "SKILL.md"), fmt.Appendf(nil, "---\nname: %s\ndescription: Reads.\n%s---\nBody of %s.\n", skill, tools, skill))
		for _, file := range []string{"references/a.md", "secret.md", "private/b.md"} {
			writeFile(t, filepath.Join(root, skill, file), []byte("text of "+file+"\n"))
		}
	}
	return newFixture(t, root, options...)
}

var narrowFiles = map[string]map[string]bool{
	"narrow": {"SKILL.md": true, "references/a.md": true, "secret.md": false, "private/b.md": false},
	"blind":  {"SKILL.md": true, "references/a.md": false, "secret.md": false, "private/b.md": false},
	"free":   {"SKILL.md": true, "references/a.md": true, "secret.md": true, "private/b.md": true},
}

// TestReadGrantsHoldOnEveryWay: what a skill may not read is given by no tool,
// no method and no completion, and its entry document by all.
func TestReadGrantsHoldOnEveryWay(t *testing.T) {
	t.Parallel()
	c := narrowFixture(t).connect(t)
	for skill, files := range narrowFiles {
		var completed struct{ Completion struct{ Values []string } }
		r := c.ask(t, "completion/complete", map[string]any{
			"ref": map[string]any{"type": "ref/resource", "uri": "skill://{+skill}/{+file}"}, "argument": map[string]any{"name": "file", "value": ""},
			"context": map[string]any{"arguments": map[string]string{"skill": skill}}})
		must(t, json.Unmarshal(r.Result, &completed))
		for file, allowed := range files {
			uri := "skill://" + skill + "/" + file
			contents, fault := c.readURI(t, uri)
			if allowed != (fault == nil && contents.Text != "") || !allowed && (fault.Code != -32602 || fault.Data.Code != "permission_denied") {
				t.Errorf("resources/read of %s: %v, %+v", uri, contents, fault)
			}
			if a := c.call(t, "readResource", map[string]any{"name": skill, "path": file}); allowed == a.IsError || !allowed && a.code() != "permission_denied" {
				t.Errorf("readResource of %s: %s", uri, a.text())
			}
			if slices.Contains(completed.Completion.Values, file) != allowed {
				t.Errorf("%s is completed: %v", uri, !allowed)
			}
		}
		if a := c.call(t, "activate", map[string]any{"name": skill}); !strings.Contains(a.text(), "Body of "+skill) {
			t.Errorf("activate: %s", a.text())
		}
	}
}

func TestDirectoriesListWhatMayBeRead(t *testing.T) {
	t.Parallel()
	c := narrowFixture(t).connect(t)
	for uri, want := range map[string]string{
		"skill://narrow": "[SKILL.md references]", "skill://narrow/references": "[a.md]", "skill://narrow/private": "permission_denied",
		"skill://blind": "[SKILL.md]", "skill://blind/references": "permission_denied",
		"skill://free": "[SKILL.md private references secret.md]", "skill://free/private": "[b.md]",
	} {
		var listed struct{ Resources []struct{ URI string } }
		got := ""
		if r := c.ask(t, "resources/directory/read", map[string]any{"uri": uri}); r.Error != nil {
			got = r.Error.Data.Code
		} else {
			must(t, json.Unmarshal(r.Result, &listed))
			names := []string{}
			for _, child := range listed.Resources {
				names = append(names, child.URI[strings.LastIndex(child.URI, "/")+1:])
			}
			slices.Sort(names)
			got = fmt.Sprint(names)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", uri, got, want)
		}
	}
}

// TestReadGrantsAreThoseOnDisk: what an author takes away is gone at once, with
// nobody watching.
func TestReadGrantsAreThoseOnDisk(t *testing.T) {
	t.Parallel()
	f := narrowFixture(t)
	c := f.connect(t)
	if _, fault := c.readURI(t, "skill://free/secret.md"); fault != nil {
		t.Fatalf("%+v", fault)
	}
	writeFile(t, filepath.Join(f.root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: Reads.\nallowed-tools: Bash\n---\nBody.\n"))
	if _, fault := c.readURI(t, "skill://free/secret.md"); fault == nil || fault.Data.Code != "permission_denied" {
		t.Errorf("%+v", fault)
	}
}

// TestNoUpdatesOfWhatMayNotBeRead: nor does a subscriber hear of it.
func TestNoUpdatesOfWhatMayNotBeRead(t *testing.T) {
	t.Parallel()
	f := narrowFixture(t)
	f.watch(t)
	c := f.connect(t)
	for _, file := range []string{"secret.md", "references/a.md", "SKILL.md"} {
		c.ask(t, "resources/subscribe", map[string]any{"uri": "skill://narrow/" + file})
	}
	for heard := 1; heard < 3; heard++ {
		edit(t, func(round int) {
			for _, file := range []string{"secret.md", "references/a.md"} {
				writeFile(t, filepath.Join(f.root, "narrow", file), fmt.Appendf(nil, "%d, %d\n", heard, round))
			}
		}, func() bool {
			for next := time.Now().Add(time.Second / 2); time.Now().Before(next); time.Sleep(10 * time.Millisecond) {
				if c.heardOf("skill://narrow/references/a.md") >= heard {
					return true
				}
			}
			return false
		})
	}
	if n := c.heardOf("skill://narrow/secret.md"); n > 0 {
		t.Errorf("told %d times of a file that may not be read", n)
	}
}

// heardOf counts the updates of a resource that came until now.
func (c *client) heardOf(uri string) int {
	count := 0
	for line := range strings.Lines(c.transcript()) {
		if strings.Contains(line, "resources/updated") && strings.Contains(line, `"`+uri+`"`) {
			count++
		}
	}
	return count
}

// TestActivateBroken: a model that asks for a skill that cannot be used is told
// why, by file and line and without a path of this machine, and nothing of skills
// that are hidden.
func TestActivateBroken(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "half", "SKILL.md"), []byte("---\nname: half\ndescription: [\n---\nx\n"))
	writeFile(t, filepath.Join(root, "secret", "SKILL.md"), []byte("---\nname: secret\n---\nx\n"))
	writeFile(t, filepath.Join(root, "nameless", "SKILL.md"), []byte("---\nname: nameless\n---\nx\n"))
	c := newFixture(t, root, "hide=secret").connect(t)
	for name, want := range map[string]string{
		"half":     "SKILL.md:4:1: ",
		"nameless": "description",
	} {
		for tool, arguments := range map[string]map[string]any{
			"activate": {"name": name}, "readResource": {"name": name, "path": "SKILL.md"}, "exec": {"name": name, "command": "true"},
		} {
			a := c.call(t, tool, arguments)
			if a.code() != "invalid_frontmatter" || !strings.Contains(a.text(), want) || !strings.Contains(a.text(), "author") || strings.Contains(a.text(), root) {
				t.Errorf("%s of %s: %s", tool, name, a.text())
			}
		}
	}
	for _, name := range []string{"secret", "halt", filepath.Base(root), "..", ""} {
		if a := c.call(t, "activate", map[string]any{"name": name}); a.code() == "invalid_frontmatter" {
			t.Errorf("%q: %s", name, a.text())
		}
	}
}
