package hosts

import (
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// projectSamples is the root of the sample skills that work on the user's files.
const projectSamples = "../../testdata/skills/project"

// work is what a user wants done in the project, by one of these skills.
type work struct {
	skill, script string
	args          []string
	becomes       string // the file of the project that is made or changed
	look          string // what of it the model has to see before it is applied
	check         func(t *testing.T, before, after string)
}

// works are real work: of each kind one.
var works = []work{{
	skill: "pdf-form", script: "scripts/fill_form.py",
	args:    []string{"fill", "forms/berth.pdf", "skipper (full name)=Zoë Ångström", "member=yes", "berth=South pier"},
	becomes: "forms/berth-filled.pdf",
	look:    "berth-filled.pdf",
	check: func(t *testing.T, _, after string) {
		// An update: the form as it was, and behind it what was filled in.
		update, found := strings.CutPrefix(after, formPDF())
		if !found {
			t.Errorf("the filled form does not begin with the form")
		}
		for _, value := range []string{"/V <feff005a006f00eb002000c5006e006700730074007200f6006d>", "/V /On", "/V <536f7574682070696572>"} {
			if !strings.Contains(update, value) {
				t.Errorf("the filled form lacks %s: %s", value, update)
			}
		}
	},
}, {
	skill: "sheet-edit", script: "scripts/edit_sheet.py",
	args:    []string{"set", "dues.xlsx", "B2=130", "A3=West pier"},
	becomes: "dues.xlsx",
	look:    "dues.xlsx",
	check: func(t *testing.T, before, after string) {
		for _, cell := range []string{`<c r="B2" s="1"><v>130</v></c>`, `West pier`, `<f>SUM(B2:B3)</f>`} {
			if sheet := partOf(t, after, sheetPart); !strings.Contains(sheet, cell) {
				t.Errorf("the sheet lacks %s: %s", cell, sheet)
			}
		}
		if partOf(t, after, stylePart) != partOf(t, before, stylePart) {
			t.Error("the styles are others than before")
		}
	},
}, {
	skill: "repo-history", script: "scripts/history.sh",
	args:    []string{"--out", "HISTORY.md"},
	becomes: "HISTORY.md",
	look:    "+2 commits, 2026-03-01 to 2026-04-02.",
	check: func(t *testing.T, _, after string) {
		for _, line := range []string{"| Zoë | 2 |", "| data/berths.csv | 2 |", "- 2026-04-02 Count the berths again (Zoë)"} {
			if !strings.Contains(after, line) {
				t.Errorf("the history lacks %s: %s", line, after)
			}
		}
	},
}, {
	skill: "data-report", script: "scripts/report.py",
	args:    []string{"--title", "The harbour", "data"},
	becomes: "docs/data-report.md",
	look:    "+| data/berths.csv | 2 | 2 |",
	check: func(t *testing.T, _, after string) {
		for _, line := range []string{"# The harbour", "| length | 8.5 to 12, total 20.5 | 0 |"} {
			if !strings.Contains(after, line) {
				t.Errorf("the report lacks %s: %s", line, after)
			}
		}
	},
}}

// turns are what the model does for it: it reads the instructions, runs the
// script, looks at what is held, and applies it.
func (w work) turns() []turn {
	ofChanges := func(name string, input func(id string) map[string]any) turn {
		return func(results []block) []toolUse { return []toolUse{{name, input(held(results).ID)}} }
	}
	return []turn{
		use(toolUse{"activate", map[string]any{"name": w.skill}}),
		use(toolUse{"exec", map[string]any{"name": w.skill, "script": w.script, "args": w.args}}),
		ofChanges("readResource", func(id string) map[string]any {
			return map[string]any{"name": w.skill, "path": "changes://" + id}
		}),
		ofChanges("applyChanges", func(id string) map[string]any { return map[string]any{"changes": id} }),
	}
}

// The places of these turns.
const (
	activated = iota
	executed
	looked
	appliedAll
	turnsOfWork
)

// changeSet is what a result says of held changes.
type changeSet struct {
	ID   string `json:"id"`
	Of   string `json:"of"`
	Held []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"held"`
}

// held returns the changes that the newest run left.
func held(results []block) changeSet {
	for _, result := range slices.Backward(results) {
		for _, text := range slices.Backward(result.Content.ofType("text")) {
			var run struct {
				Changes changeSet `json:"changes"`
			}
			if json.Unmarshal([]byte(text.Text), &run) == nil && run.Changes.ID != "" {
				return run.Changes
			}
		}
	}
	return changeSet{}
}

// files returns all that is in a directory: modes and contents by path.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		all[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			all[name] += "\n" + string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// content returns a file's content of these.
func content(file string) string {
	_, text, _ := strings.Cut(file, "\n")
	return text
}

// changed returns the paths at which directories differ.
func changed(before, after map[string]string) []string {
	differ := map[string]bool{}
	for _, pair := range [][2]map[string]string{{before, after}, {after, before}} {
		for path, file := range pair[0] {
			if other, there := pair[1][path]; !there || other != file {
				differ[path] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(differ))
}

// newProject fills a directory with what the works need: a repository of two
// commits.
func newProject(t *testing.T, env []string, dir string) {
	t.Helper()
	git := func(date string, args ...string) {
		mustRun(t, append(slices.Clip(env), "GIT_AUTHOR_NAME=Zoë", "GIT_AUTHOR_EMAIL=zoe@example.com", "GIT_COMMITTER_NAME=Zoë",
			"GIT_COMMITTER_EMAIL=zoe@example.com", "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date), dir, "git", args...)
	}
	testfiles.Fill(t, dir, map[string]string{
		"forms/berth.pdf": formPDF(), "dues.xlsx": workbook(t), "data/berths.csv": "berth,length\nnorth,8.5\n", ".env": "TOKEN=of-the-user\n"})
	git("2026-03-01T12:00:00Z", "init", "--quiet")
	git("2026-03-01T12:00:00Z", "add", "forms", "data", "dues.xlsx")
	git("2026-03-01T12:00:00Z", "commit", "--quiet", "--message", "Count the berths")
	testfiles.Fill(t, dir, map[string]string{"data/berths.csv": "berth,length\nnorth,8.5\nsouth,12\n"})
	git("2026-04-02T12:00:00Z", "commit", "--quiet", "--all", "--message", "Count the berths again")
}

// newUser sets Claude Code up as a user does who has the skills at home: in a
// project, with
//
//	claude mcp add skills -- skills-mcp
func newUser(t *testing.T, m *model) *claude {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("programs see a project on Linux only")
	}
	c := unregistered(t, m)
	home := program.Environ(c.env)["HOME"]
	if err := os.CopyFS(filepath.Join(home, ".agents", "skills"), os.DirFS(projectSamples)); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program.Binary(t), filepath.Join(bin, "skills-mcp")); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "SKILLS_MCP_PROJECT=auto", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	newProject(t, c.env, c.project)
	try := exec.Command(program.Binary(t), "call", "exec", "name=repo-history", "script=scripts/history.sh")
	try.Env, try.Dir = c.env, c.project
	if out, err := try.CombinedOutput(); strings.Contains(string(out), "sandbox_unavailable: ") {
		t.Skipf("no sandbox here: %s", out)
	} else if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	mustRun(t, c.env, c.project, "node", c.launcher, "mcp", "add", serverName, "--", "skills-mcp")
	return c
}

// asked is what Claude Code asks its user, as it does at a terminal: may the
// model use the tool?
type asked struct {
	Tool     string          `json:"tool_name"`
	Input    json.RawMessage `json:"input"`
	MustAsk  bool            `json:"requires_user_interaction"`
	NoAlways bool            `json:"suppress_always_allow_rule"`
}

// attend runs the model's script with a user who answers what Claude Code asks,
// and returns the results of the tools.
func (c *claude) attend(t *testing.T, answer func(asked) bool) []block {
	t.Helper()
	args := append([]string{c.launcher, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio"}, c.args()...)
	p := program.StartIn(t, c.env, c.project, "node", args...)
	say := func(message any) {
		if err := json.NewEncoder(p.Stdin).Encode(message); err != nil {
			t.Fatal(err)
		}
	}
	say(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "Do what the script says."}})
	for lines := json.NewDecoder(p.Stdout); ; {
		var line struct {
			Type      string `json:"type"`
			RequestID string `json:"request_id"`
			Request   asked  `json:"request"`
		}
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		switch line.Type {
		case "control_request":
			answered := map[string]any{"behavior": "deny", "message": "The user does not want it."}
			if answer(line.Request) {
				answered = map[string]any{"behavior": "allow", "updatedInput": line.Request.Input}
			}
			say(map[string]any{"type": "control_response", "response": map[string]any{
				"subtype": "success", "request_id": line.RequestID, "response": answered}})
		case "result":
			p.Stdin.Close()
			io.Copy(io.Discard, p.Stdout)
			requests := c.model.conversation()
			return results(requests[len(requests)-1])
		}
	}
}

// Work on the user's files is done as its skill's author meant it, and lies in
// the project once the user has said so, and nowhere in it before.
func TestClaudeCodeWorksOnTheProject(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	var c *claude
	var states []map[string]string // of the project, when the model has its turn
	var script []turn
	for _, w := range works {
		for _, next := range w.turns() {
			script = append(script, func(results []block) []toolUse {
				states = append(states, files(t, c.project))
				return next(results)
			})
		}
	}
	m := newModel(t, script...)
	c = newUser(t, m)
	var whenAsked []map[string]string
	got := c.attend(t, func(question asked) bool {
		whenAsked = append(whenAsked, files(t, c.project))
		if question.Tool != serverPrefix+"applyChanges" || !question.MustAsk || !question.NoAlways {
			t.Errorf("the user is asked %+v", question)
		}
		return true
	})
	states = append(states, files(t, c.project))
	if len(got) != len(script) || len(states) != len(script)+1 || len(whenAsked) != len(works) {
		t.Fatalf("%d results of %d uses, and the user was asked %d times", len(got), len(script), len(whenAsked))
	}
	for i, w := range works {
		first := i * turnsOfWork
		before, after := states[first], states[first+turnsOfWork]
		for at, state := range slices.Concat(states[first+1:first+turnsOfWork], whenAsked[i:i+1]) {
			if differ := changed(before, state); len(differ) > 0 {
				t.Errorf("%s: %q differ before the user consents (%d)", w.skill, differ, at)
			}
		}
		w.checkResults(t, got[first:first+turnsOfWork])
		want := []string{w.becomes}
		if dir := filepath.Dir(w.becomes); before[dir] == "" {
			want = []string{dir, w.becomes}
		}
		if differ := changed(before, after); !slices.Equal(differ, want) {
			t.Errorf("%s: %q differ after applyChanges, want %q", w.skill, differ, want)
		}
		w.check(t, content(before[w.becomes]), content(after[w.becomes]))
	}
}

// checkResults holds what the model was told at each of the work's turns.
func (w work) checkResults(t *testing.T, got []block) {
	t.Helper()
	for _, result := range got {
		if result.IsError {
			t.Errorf("%s: %s", w.skill, result.Content.text())
		}
	}
	if text := got[activated].Content.text(); !strings.Contains(text, "\nProject: ") || strings.Contains(text, "no files of the user") {
		t.Errorf("%s: activate does not say that there is a project: %s", w.skill, text)
	}
	set := held(got[executed : executed+1])
	if n := len(set.Held); n == 0 || set.Held[n-1].Path != w.becomes {
		t.Errorf("%s: held are %+v", w.skill, set)
	}
	if text := got[looked].Content.text(); !strings.Contains(text, w.look) {
		t.Errorf("%s: the diff lacks %q: %s", w.skill, w.look, text)
	}
	var done struct {
		Applied   []struct{ Path string } `json:"applied"`
		Remaining changeSet               `json:"remaining"`
	}
	if err := json.Unmarshal([]byte(got[appliedAll].Content.text()), &done); err != nil || len(done.Applied) != len(set.Held) || len(done.Remaining.Held) != 0 {
		t.Errorf("%s: applied is %s (%v)", w.skill, got[appliedAll].Content.text(), err)
	}
}

// Nothing that a user has allowed once and for all, and nobody else, answers
// for the user: what has no answer stays held, for a terminal.
func TestClaudeCodeAppliesNothingUnasked(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	const hook = `{"hooks": {"PreToolUse": [{"matcher": ".*", "hooks": [{"type": "command", "command":` +
		`"echo '{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", \"permissionDecision\": \"allow\"}}'"}]}]}}`
	for name, flags := range map[string][]string{
		"allowed tools":      nil, // as all tests allow them
		"bypassed questions": {"--permission-mode", "bypassPermissions"},
		"a hook that allows": {"--settings", hook},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := works[len(works)-1]
			m := newModel(t, w.turns()...)
			c := newUser(t, m)
			c.env = append(c.env, "IS_SANDBOX=1") // root may bypass questions then
			c.flags = flags
			before := files(t, c.project)
			mustRun(t, c.env, c.project, "node", append([]string{c.launcher, "-p", "Do what the script says."}, c.args()...)...)
			requests := m.conversation()
			got := results(requests[len(requests)-1])
			if refused := got[len(got)-1]; len(got) != turnsOfWork || !refused.IsError || !strings.Contains(refused.Content.text(), "requires permission") {
				t.Errorf("applyChanges gives %s", refused.Content.text())
			}
			if differ := changed(before, files(t, c.project)); len(differ) > 0 {
				t.Errorf("%q differ, and nobody was asked", differ)
			}
			mustRun(t, c.env, c.project, program.Binary(t), "apply", "--yes", held(got).ID)
			if differ := changed(before, files(t, c.project)); !slices.Contains(differ, w.becomes) {
				t.Errorf("applied at a terminal, %q differ", differ)
			}
		})
	}
}

// A user who does not want the changes is not asked again by the server, and has
// the project as it was.
func TestClaudeCodeUserDeclines(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	w := works[0]
	c := newUser(t, newModel(t, w.turns()...))
	before := files(t, c.project)
	got := c.attend(t, func(asked) bool { return false })
	if refused := got[len(got)-1]; !refused.IsError || !strings.Contains(refused.Content.text(), "does not want") {
		t.Errorf("applyChanges gives %s", refused.Content.text())
	}
	if differ := changed(before, files(t, c.project)); len(differ) > 0 {
		t.Errorf("%q differ, and the user did not want it", differ)
	}
}
