package integration

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// projectSamples is the root of the sample skills that work on the user's files.
const projectSamples = "../testdata/skills/project"

// picture is the smallest PNG, of one pixel.
const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00:~\x9bU" +
	"\x00\x00\x00\nIDATx\x9cc`\x00\x00\x00\x02\x00\x01H\xaf\xa4q\x00\x00\x00\x00IEND\xaeB`\x82"

// changeSet is what a result says of changes that are held.
type changeSet struct {
	ID   string `json:"id"`
	Held []struct {
		Path string `json:"path"`
		Kind string `json:"kind"`
	} `json:"held"`
}

func (s changeSet) paths() []string {
	var all []string
	for _, each := range s.Held {
		all = append(all, each.Path)
	}
	return all
}

// applied is applyChanges' structured content.
type applied struct {
	Applied   []struct{ Path string }
	Conflicts []struct{ Path, Reason string }
	Remaining changeSet
	Undo      string
	Declined  string
}

// TestProject: clients that others wrote run a skill on the user's project, show
// its user the diff and the question, and apply what the user wants; what the
// user changed meanwhile is left alone, and all of it can be taken back.
func TestProject(t *testing.T) {
	forEach(t, onStdio(clientsOf(asking)), func(t *testing.T, c client) {
		if runtime.GOOS != "linux" {
			t.Skip("programs see a project on Linux only")
		}
		root, err := filepath.Abs(projectSamples)
		if err != nil {
			t.Fatal(err)
		}
		own := t.TempDir()
		writeSkill(t, own, "open", "Anything may be run.")
		testfiles.Write(t, filepath.Join(own, "open/assets/dot.png"), picture)
		project := testfiles.Dir(t, map[string]string{"data/berths.csv": "berth,length\nnorth,8.5\n", "notes.md": "one\n", ".env": "TOKEN=x\n"})
		// The flag that comes last counts: the sandbox is the default one.
		p := connectAnswering(t, c, []string{"Decline", "Allow once", "Allow once"}, "--sandbox=auto", "--approval=ask", "--project", project, root, own)
		checkProject(t, p, project)
	})
}

// onStdio returns those of the clients that start their server.
func onStdio(clients []client) []client {
	return slices.DeleteFunc(clients, func(c client) bool { return c.transport != "stdio" })
}

func checkProject(t *testing.T, p *peer, project string) {
	t.Helper()
	set := checkHeld(t, p, project)

	apply := func(arguments map[string]any) applied {
		t.Helper()
		var done applied
		result := p.tool(t, "applyChanges", arguments)
		if err := json.Unmarshal(result.StructuredContent, &done); err != nil || result.IsError {
			t.Fatalf("applyChanges(%v): %v %v", arguments, result.Content, err)
		}
		return done
	}
	if done := apply(map[string]any{"changes": set.ID}); done.Declined == "" || len(done.Applied) > 0 || exists(filepath.Join(project, "docs")) {
		t.Errorf("declined: %+v", done)
	}
	// A part of it first, and then the rest, which has another id.
	part := apply(map[string]any{"changes": set.ID, "paths": []string{"docs"}})
	if len(part.Applied) != 2 || contentsOf(t, filepath.Join(project, "notes.md")) != "one\n" {
		t.Errorf("a part: %+v", part)
	}
	if report := contentsOf(t, filepath.Join(project, "docs/data-report.md")); !strings.Contains(report, "| data/berths.csv | 1 | 2 |") {
		t.Errorf("the report is %s", report)
	}
	stale := p.tool(t, "applyChanges", map[string]any{"changes": set.ID})
	if text := stale.Content[0].Text; !stale.IsError || !strings.HasPrefix(text, "changes_applied: ") || !strings.Contains(text, part.Remaining.ID) {
		t.Errorf("with the id of before: %s", text)
	}
	testfiles.Write(t, filepath.Join(project, "notes.md"), "the user's\n")
	rest := apply(map[string]any{"changes": part.Remaining.ID})
	if len(rest.Conflicts) != 1 || rest.Conflicts[0].Path != "notes.md" || contentsOf(t, filepath.Join(project, "notes.md")) != "the user's\n" {
		t.Errorf("the rest: %+v", rest)
	}
	if contentsOf(t, filepath.Join(project, "dot.png")) != picture {
		t.Error("the picture is not the one that was looked at")
	}
	for _, id := range []string{rest.Undo, part.Undo} {
		undo := exec.Command(program.Binary(t), "undo", id)
		undo.Env = p.Cmd.Env
		if out, err := undo.CombinedOutput(); err != nil {
			t.Errorf("undo %s: %v %s", id, err, out)
		}
	}
	for _, gone := range []string{"dot.png", "docs"} {
		if exists(filepath.Join(project, gone)) {
			t.Errorf("%s is still there", gone)
		}
	}
}

// checkHeld runs skills and looks at what is held then: nothing of it is in the
// project.
func checkHeld(t *testing.T, p *peer, project string) changeSet {
	t.Helper()
	first := p.tool(t, "exec", map[string]any{"name": "data-report", "script": "scripts/report.py", "args": []string{"data"}})
	if text := first.Content[0].Text; strings.HasPrefix(text, "sandbox_unavailable") {
		t.Skipf("no sandbox here: %s", text)
	}
	var run struct{ Workspace string }
	if err := json.Unmarshal(first.StructuredContent, &run); err != nil || first.IsError {
		t.Fatalf("exec: %v %v", first.Content, err)
	}
	// Without sessions, the workspace says which changes these add up to.
	second := p.tool(t, "exec", map[string]any{"name": "open", "workspace": run.Workspace,
		"command": "cat docs/data-report.md && echo two >> notes.md && cp \"$SKILL_DIR/assets/dot.png\" . && ! cat .env"})
	var changed struct{ Changes changeSet }
	if err := json.Unmarshal(second.StructuredContent, &changed); err != nil || second.IsError {
		t.Fatalf("exec: %v %v", second.Content, err)
	}
	set := changed.Changes
	if want := []string{"docs", "docs/data-report.md", "dot.png", "notes.md"}; !slices.Equal(set.paths(), want) {
		t.Errorf("held are %q, want %q", set.paths(), want)
	}
	if text := second.Content[0].Text; !strings.Contains(text, "NOT in "+project+" yet") || !strings.Contains(text, `applyChanges {"changes": "`+set.ID+`"}`) {
		t.Errorf("exec says %s", text)
	}
	uri := "changes://" + set.ID
	if diff := p.resource(t, uri).Text; !strings.Contains(diff, "+# Data of this project") || !strings.Contains(diff, "\n+two\n") {
		t.Errorf("the diff is %s", diff)
	}
	shown := p.resource(t, uri+"/dot.png")
	if data, err := base64.StdEncoding.DecodeString(shown.Blob); err != nil || string(data) != picture || shown.MIMEType != "image/png" {
		t.Errorf("the picture is %+v, %v", shown, err)
	}
	if exists(filepath.Join(project, "docs")) || exists(filepath.Join(project, "dot.png")) || contentsOf(t, filepath.Join(project, "notes.md")) != "one\n" {
		t.Error("the project is changed, and nobody has consented")
	}
	return set
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
