package server_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/policy/approval"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server"
)

// ofUser is what exec tells of the user's files, and what applyChanges does.
type ofUser struct {
	Status       string
	Project      struct{ Path, Access, Reason string }
	Shares       []struct{ Path, Access string }
	Changes      heldOf
	OtherChanges []heldOf
	Workspace    string
	Applied      []heldFile `json:"-"` // by applyChanges
	Error        struct{ Code, Message, Hint string }
}

type heldOf struct {
	ID, Of, Undo  string
	Held, Applied []heldFile
	Refused       []heldFile
}

type heldFile struct{ Path, Kind, Reason string }

func pathsOf(files []heldFile) string {
	var list []string
	for _, file := range files {
		list = append(list, file.Path)
	}
	return strings.Join(list, " ")
}

// userFixture makes a server with the skills report and other, whose programs
// work on the user's files.
func userFixture(t *testing.T, set func(*server.Options), options ...string) *fixture {
	t.Helper()
	needBash(t)
	root := t.TempDir()
	for _, name := range []string{"report", "other"} {
		writeFile(t, filepath.Join(root, name, "SKILL.md"), []byte("---\nname: "+name+"\ndescription: Reports.\n---\n"))
	}
	return newFixtureOf(t, root, set, append([]string{"approval.apply=host"}, options...)...)
}

func asTheyAre(*server.Options) {}

// onFiles calls a tool that has something to do with the user's files.
func (c *client) onFiles(t *testing.T, tool string, arguments map[string]any) (a answer, told ofUser) {
	t.Helper()
	a = c.call(t, tool, arguments)
	var became struct{ Applied []heldFile }
	switch {
	case a.Structured == nil:
	case tool == "applyChanges":
		must(t, json.Unmarshal(a.Structured, &became))
		told.Applied = became.Applied
	default:
		must(t, json.Unmarshal(a.Structured, &told))
	}
	return a, told
}

// work runs a command for the skill report.
func (c *client) work(t *testing.T, command string) ofUser {
	t.Helper()
	a, told := c.onFiles(t, "exec", map[string]any{"name": "report", "command": command})
	if a.IsError {
		t.Fatalf("%s: %s", command, a.text())
	}
	return told
}

func content(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// TestShareModes: what is changed when a run has ended follows from the mode, the
// rules and nothing else.
func TestShareModes(t *testing.T) {
	t.Parallel()
	const script = "mkdir -p out .git/hooks; echo new > out/a; echo new > note; echo new > .git/hooks/pre-commit"
	for _, test := range []struct {
		name    string
		options []string
		access  string
		applied string // at once
		held    string
	}{
		{"review", []string{"project=review"}, "review", "", "note out out/a"},
		{"write", []string{"project=write"}, "write", "note out out/a", ""},
		{"write what is protected", []string{"project=write", "protected=note"}, "write", "out out/a", ""},
		{"some at once", []string{"project=review", "write=out/**"}, "review", "out out/a", "note"},
		{"some at once, protected", []string{"project=review", "write=**", "protected=note"}, "review", "out out/a", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := userFixture(t, asTheyAre, test.options...)
			c := f.connect(t)
			told := c.work(t, script)
			if told.Project.Access != test.access {
				t.Errorf("the access is %q", told.Project.Access)
			}
			if got := pathsOf(told.Changes.Applied); got != test.applied {
				t.Errorf("applied is %q, want %q", got, test.applied)
			}
			if got := pathsOf(told.Changes.Held); got != test.held {
				t.Errorf("held is %q, want %q", got, test.held)
			}
			for _, path := range []string{"out/a", "note", ".git/hooks/pre-commit"} {
				_, err := os.Stat(filepath.Join(f.project, path))
				want := strings.Contains(" "+test.applied+" ", " "+path+" ")
				if (err == nil) != want {
					t.Errorf("%s is there: %v", path, err == nil)
				}
			}
			if (told.Changes.Undo != "") != (test.applied != "") {
				t.Errorf("it can be taken back by %q", told.Changes.Undo)
			}
		})
	}
}

// TestShareReadOnly: what is only read never changes, and nothing is held of it.
func TestShareReadOnly(t *testing.T) {
	t.Parallel()
	f := userFixture(t, asTheyAre, "project=read")
	a, told := f.connect(t).onFiles(t, "exec", map[string]any{"name": "report", "command": "cat README.md; echo x > new; true"})
	if told.Project.Access != "read" && told.Project.Access != "off" || told.Changes.ID != "" {
		t.Errorf("told is %s", a.text())
	}
	if entries, err := os.ReadDir(f.project); err != nil || len(entries) != 1 {
		t.Errorf("the project holds %v, %v", entries, err)
	}
}

// TestFurtherShare: what is changed in another directory than the project is a
// change set of its own.
func TestFurtherShare(t *testing.T) {
	t.Parallel()
	f := userFixture(t, asTheyAre, "project=review", "share=review")
	c := f.connect(t)
	a, told := c.onFiles(t, "exec", map[string]any{"name": "report", "command": "echo a > a"})
	if len(told.Shares) != 1 || told.Shares[0].Access != "review" || len(told.OtherChanges) != 0 || told.Changes.Of != f.project {
		t.Fatalf("told is %s", a.text())
	}
	again := c.work(t, "echo b > "+told.Shares[0].Path+"/b")
	if len(again.OtherChanges) != 1 || again.OtherChanges[0].Of != f.shared || again.Changes.ID != told.Changes.ID {
		t.Fatalf("then told is %+v", again)
	}
	for _, set := range []heldOf{again.OtherChanges[0], again.Changes} {
		if a, _ := c.onFiles(t, "applyChanges", map[string]any{"changes": set.ID}); a.IsError {
			t.Errorf("%s", a.text())
		}
	}
	if a, b := content(t, f.project, "a"), content(t, f.shared, "b"); a != "a\n" || b != "b\n" {
		t.Errorf("applied are %q and %q", a, b)
	}
}

// TestSetsOfSessions: skills of one session work on the same files, sessions and
// servers each on their own, and what one applies is a conflict for the other.
func TestSetsOfSessions(t *testing.T) {
	t.Parallel()
	user := userDir(t)
	f := userFixture(t, asTheyAre, "project=review", "user="+user)
	other := userFixture(t, asTheyAre, "project=review", "user="+user)
	c, in := f.connect(t), other.connect(t)
	mine := c.work(t, "echo mine > README.md")
	a, _ := c.onFiles(t, "exec", map[string]any{"name": "other", "command": "cat README.md"})
	if !strings.Contains(a.text(), "mine\n") {
		t.Errorf("another skill of the session sees %s", a.text())
	}
	theirs := in.work(t, "cat README.md; echo theirs > README.md")
	if theirs.Changes.ID == mine.Changes.ID {
		t.Error("two servers have one set")
	}
	if a, _ := c.onFiles(t, "applyChanges", map[string]any{"changes": mine.Changes.ID}); a.IsError {
		t.Fatal(a.text())
	}
	a, told := in.onFiles(t, "applyChanges", map[string]any{"changes": theirs.Changes.ID})
	if a.IsError || len(told.Applied) != 0 || !strings.Contains(a.text(), "conflict, left as the user has it: README.md") {
		t.Errorf("the other's apply: %s", a.text())
	}
	if got := content(t, f.project, "README.md"); got != "mine\n" {
		t.Errorf("the project has %q", got)
	}
}

// TestSetOfAnotherProject: a set of what this server does not show is unknown to
// it, whoever knows its id.
func TestSetOfAnotherProject(t *testing.T) {
	t.Parallel()
	user := userDir(t)
	shows := userFixture(t, asTheyAre, "share=review", "user="+user).connect(t)
	set := userFixture(t, asTheyAre, "project=review", "user="+user).connect(t).work(t, "echo a > a").Changes
	for _, arguments := range []map[string]any{{"changes": set.ID}, {"changes": set.ID, "discard": true}} {
		if a := shows.call(t, "applyChanges", arguments); a.code() != "changes_unknown" {
			t.Errorf("%v: %s", arguments, a.text())
		}
	}
	if _, fault := shows.readURI(t, "changes://"+set.ID); fault == nil || fault.Data.Code != "changes_unknown" {
		t.Errorf("it is read: %+v", fault)
	}
}

// TestSetOutlivesWorkspace: what is held can be applied when the workspace has
// expired; only after a week without use it is gone, and that is said.
func TestSetOutlivesWorkspace(t *testing.T) {
	t.Parallel()
	user := userDir(t)
	f := userFixture(t, asTheyAre, "project=review", "user="+user)
	c := f.connect(t)
	kept := c.work(t, "echo a > a").Changes
	f.advance(48 * time.Hour)
	if next := c.work(t, "ls; echo b > b").Changes; pathsOf(next.Held) != "b" {
		t.Errorf("the next workspace holds %+v", next.Held)
	}
	if a, _ := c.onFiles(t, "applyChanges", map[string]any{"changes": kept.ID}); a.IsError || content(t, f.project, "a") != "a\n" {
		t.Errorf("%s", a.text())
	}
	last := c.work(t, "echo c > c").Changes
	f.advance(48 * time.Hour)
	c.work(t, "true") // lets go of it
	later := func() time.Time { return time.Now().Add(30 * 24 * time.Hour) }
	if _, err := changes.Open(f.changesDir, changes.Options{Now: later}); err != nil {
		t.Fatal(err)
	}
	if a := c.call(t, "applyChanges", map[string]any{"changes": last.ID}); a.code() != "changes_expired" || !strings.Contains(a.text(), "un again") {
		t.Errorf("after a month: %s", a.text())
	}
}

// TestApplyDuringRun: while a program may write, nothing is applied; who gives up
// waiting hears why.
func TestApplyDuringRun(t *testing.T) {
	t.Parallel()
	f := userFixture(t, asTheyAre, "project=review")
	c := f.connect(t)
	held := c.work(t, "echo a > a").Changes
	gate := filepath.Join(t.TempDir(), "gate")
	makeFIFO(t, gate)
	running := c.startExec(t, "report", map[string]any{"command": "echo here > " + gate + "; read line < " + gate + "; echo b > b"})
	if got := content(t, gate); got != "here\n" {
		t.Fatalf("the program says %q", got)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	arguments, err := json.Marshal(map[string]any{"changes": held.ID})
	must(t, err)
	called, err := f.server.Call(gone, "applyChanges", arguments)
	if err != nil || !called.IsError || !strings.HasPrefix(called.Text, "changes_busy: ") {
		t.Errorf("%+v, %v", called, err)
	}
	waiting := c.start(t, "tools/call", map[string]any{"name": "applyChanges", "arguments": map[string]any{"changes": held.ID}})
	testfiles.GoOn(t, gate)
	c.await(t, running, "the run")
	if a := decodeAnswer(t, "applyChanges", c.await(t, waiting, "the apply")); a.code() != "changes_stale" {
		t.Errorf("after the run: %s", a.text())
	}
	if entries, err := os.ReadDir(f.project); err != nil || len(entries) != 1 {
		t.Errorf("the project holds %v, %v", entries, err)
	}
}

// TestKilledRunTells: what a run changed before it was killed is told.
func TestKilledRunTells(t *testing.T) {
	t.Parallel()
	f := userFixture(t, asTheyAre, "project=review")
	a, told := f.connect(t).onFiles(t, "exec", map[string]any{"name": "report", "command": "echo a > a; sleep 600", "timeoutMs": 1000})
	if told.Status != "timeout" || told.Error.Code != "execution_timeout" || pathsOf(told.Changes.Held) != "a" {
		t.Errorf("%s", a.text())
	}
}

// TestApplyModes: the operator's mode holds, for a skill the strictest of those
// that worked on the files, and of all where these are not known any more.
func TestApplyModes(t *testing.T) {
	t.Parallel()
	strict := func(opts *server.Options) {
		opts.Approval.Skills = map[string]approval.Modes{"other": {Apply: approval.Deny}}
	}
	user := userDir(t)
	f := userFixture(t, strict, "project=review", "user="+user)
	c := f.connect(t)
	free := c.work(t, "echo a > a").Changes
	apply := func(c *client, id string) string {
		t.Helper()
		return c.call(t, "applyChanges", map[string]any{"changes": id}).code()
	}
	if code := apply(userFixture(t, strict, "project=review", "user="+user).connect(t), free.ID); code != "permission_denied" {
		t.Errorf("in a server that does not know whose they are: %q", code)
	}
	if code := apply(c, free.ID); code != "" {
		t.Errorf("of the skill that may: %q", code)
	}
	c.work(t, "echo b > b")
	_, mixed := c.onFiles(t, "exec", map[string]any{"name": "other", "command": "echo evil >> b"})
	if code := apply(c, mixed.Changes.ID); code != "permission_denied" || content(t, f.project, "b") == "b\nevil\n" {
		t.Errorf("of both: %q", code)
	}
}

// blind is a backend that cannot show what the user shares.
type blind struct{ sandbox.Backend }

func (b blind) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	shared := make([]sandbox.Shared, len(spec.Shares))
	for i := range shared {
		shared[i] = sandbox.Shared{Access: sandbox.AccessOff, Reason: "It cannot be shown here."}
	}
	spec.Shares, spec.Project, spec.InProject = nil, false, false
	result, err := b.Backend.Run(ctx, spec)
	result.Shared = shared
	return result, err
}

// TestProjectNotSeen: a program that was to start in a project which it did not
// see is no success, whatever it says.
func TestProjectNotSeen(t *testing.T) {
	t.Parallel()
	f := userFixture(t, func(opts *server.Options) { opts.Sandbox = blind{opts.Sandbox} }, "project=review")
	c := f.connect(t)
	for _, test := range []struct {
		arguments map[string]any
		says      string
	}{
		{map[string]any{"command": "ls; echo all clean"}, "execution_failed: exit code 0, but the program did not see the user's project"},
		{map[string]any{"command": "exit 3", "cwd": "project"}, "execution_failed: exit code 3; the program did not see the user's project"},
		{map[string]any{"command": "echo fine", "cwd": "workspace"}, "exit code 0\n"},
	} {
		test.arguments["name"] = "report"
		a, told := c.onFiles(t, "exec", test.arguments)
		if !strings.HasPrefix(a.text(), test.says) || told.Project.Access != "off" || a.IsError != (told.Error.Code != "") {
			t.Errorf("%v: %s", test.arguments, a.text())
		}
	}
}

// TestApplyChangesIsMarked: hosts know what the tool does, and Claude Code asks.
func TestApplyChangesIsMarked(t *testing.T) {
	t.Parallel()
	c := noteFixture(t).connect(t)
	var list struct {
		Tools []struct {
			Name        string
			Annotations struct{ DestructiveHint, ReadOnlyHint, IdempotentHint, OpenWorldHint *bool }
			Meta        map[string]any `json:"_meta"`
		}
	}
	must(t, json.Unmarshal(c.ask(t, "tools/list", map[string]any{}).Result, &list))
	for _, tool := range list.Tools {
		marked := tool.Meta["anthropic/requiresUserInteraction"] == true
		if marked != (tool.Name == "applyChanges") {
			t.Errorf("%s is marked: %v", tool.Name, marked)
		}
		hint := tool.Annotations.DestructiveHint
		if tool.Name == "applyChanges" && (hint == nil || !*hint || tool.Annotations.ReadOnlyHint == nil || *tool.Annotations.ReadOnlyHint) {
			t.Errorf("its annotations are %+v", tool.Annotations)
		}
	}
	if a := c.call(t, "applyChanges", map[string]any{"changes": "cs-0123456789abcdef-01234567"}); a.code() != "changes_unknown" {
		t.Errorf("where nothing is shared: %s", a.text())
	}
}
