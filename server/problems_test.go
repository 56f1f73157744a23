package server_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// brokenSkill has no description.
const brokenSkill = "---\nname: broken\n---\n"

type shownProblem struct {
	Severity, Skill, File, Rule, Message, Hint string
	Line                                       int
}

// problems reads the resource of problems.
func (c *client) problems(t *testing.T) (shown []shownProblem) {
	t.Helper()
	var result struct{ Contents []struct{ Text string } }
	must(t, json.Unmarshal(c.ask(t, "resources/read", map[string]any{"uri": "skills://problems"}).Result, &result))
	var document struct{ Problems []shownProblem }
	must(t, json.Unmarshal([]byte(result.Contents[0].Text), &document))
	return document.Problems
}

// TestProblems: clients read what is wrong with the skills, with no path of this
// machine, are told where it is another, and find it listed where there is any.
func TestProblems(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "library")
	writeFile(t, filepath.Join(root, "note/SKILL.md"), []byte(noteSkill))
	writeFile(t, filepath.Join(root, "team/note/SKILL.md"), []byte(noteSkill))
	writeFile(t, filepath.Join(root, "broken/SKILL.md"), []byte(brokenSkill))
	writeFile(t, filepath.Join(root, "hush/SKILL.md"), []byte("---\nname: hush\n---\n"))
	writeFile(t, filepath.Join(root, "other/SKILL.md"), []byte("---\nname: hush\ndescription: x\nodd-key: x\n---\n"))
	f := newFixture(t, root, "hide=hush")
	f.watch(t)
	c := f.connect(t)
	want := []shownProblem{
		{Severity: "error", Skill: "broken", File: "library/broken/SKILL.md", Line: 1, Rule: "description-missing", Message: "there is no description"},
		{Severity: "error", Skill: "note", File: "library/team/note/SKILL.md", Rule: "name-taken", Message: `the name "note" is taken by library/note/SKILL.md`},
	}
	got := c.problems(t)
	for i := range got {
		if got[i].Hint == "" {
			t.Errorf("%+v says not what to do", got[i])
		}
		got[i].Hint = ""
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if strings.Contains(c.transcript(), filepath.Dir(root)) {
		t.Errorf("a client sees a path of this machine: %s", c.transcript())
	}
	if list := c.ask(t, "resources/list", map[string]any{}); !strings.Contains(string(list.Result), "skills://problems") {
		t.Errorf("it is not listed: %s", list.Result)
	}

	c.ask(t, "resources/subscribe", map[string]any{"uri": "skills://problems"})
	must(t, os.RemoveAll(filepath.Join(root, "team")))
	c.hears(t, `"uri":"skills://problems"`)
	must(t, os.RemoveAll(filepath.Join(root, "broken")))
	c.hears(t, "notifications/resources/list_changed")
	if left := c.problems(t); len(left) != 0 {
		t.Errorf("these are left: %+v", left)
	}
	if list := c.ask(t, "resources/list", map[string]any{}); strings.Contains(string(list.Result), "skills://problems") {
		t.Errorf("it is listed where there is none: %s", list.Result)
	}
}

// TestEveryRefusalHasItsFailure: in the conversations every answer of a tool that
// is an error has for programs, in its _meta, what its text says to models.
func TestEveryRefusalHasItsFailure(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/rpc/*.txtar")
	must(t, err)
	refusals := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		must(t, err)
		for _, part := range archive.Files {
			if part.Name != "server" {
				continue
			}
			for decoder := json.NewDecoder(strings.NewReader(string(part.Data))); decoder.More(); {
				var message struct {
					Result struct {
						IsError bool
						Content []struct{ Text string }
						Meta    struct {
							Error struct{ Code, Message, Hint string }
						} `json:"_meta"`
					}
				}
				must(t, decoder.Decode(&message))
				result := message.Result
				if !result.IsError {
					continue
				}
				refusals++
				said := result.Meta.Error.Code + ": " + result.Meta.Error.Message
				if result.Meta.Error.Hint != "" {
					said += "\nNext: " + result.Meta.Error.Hint
				}
				if result.Meta.Error.Code == "" || !strings.HasPrefix(result.Content[0].Text, said) {
					t.Errorf("%s: %q has %+v", filepath.Base(file), result.Content[0].Text, result.Meta.Error)
				}
			}
		}
	}
	if refusals < 50 {
		t.Errorf("only %d refusals were seen", refusals)
	}
}

// hears waits until the server has told the client something.
func (c *client) hears(t *testing.T, what string) {
	t.Helper()
	edit(t, func(int) { runtime.Gosched() }, func() bool { return strings.Contains(c.transcript(), what) })
}
