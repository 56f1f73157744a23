package server_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server"
)

// create writes a file by create_file, for no skill.
func (c *client) create(t *testing.T, path, text string) (answer, ofUser) {
	t.Helper()
	return c.onFiles(t, "create_file", map[string]any{"path": path, "file_text": text})
}

func (c *client) replace(t *testing.T, path, old, replaced string) (answer, ofUser) {
	t.Helper()
	return c.onFiles(t, "str_replace", map[string]any{"path": path, "old_str": old, "new_str": replaced})
}

func (c *client) view(t *testing.T, path string) string {
	t.Helper()
	return c.call(t, "view", map[string]any{"path": path}).text()
}

// seen is a line as view shows it.
func seen(text string) string { return "     1\t" + text + "\n" }

// filesFixture makes a server with the toolset, and a project with these files.
func filesFixture(t *testing.T, set func(*server.Options), files map[string]string, options ...string) *fixture {
	t.Helper()
	f := userFixture(t, set, append([]string{"toolset=workspace"}, options...)...)
	for name, text := range files {
		writeFile(t, filepath.Join(f.project, name), []byte(text))
	}
	return f
}

// TestToolsetOnProject: what the tools write is held as what programs write is,
// each sees what the other did, and nothing is in the project before it is applied.
func TestToolsetOnProject(t *testing.T) {
	t.Parallel()
	f := filesFixture(t, asTheyAre, map[string]string{"docs/plan.md": "one\n"}, "project=review")
	c := f.connect(t)
	if got := c.view(t, "docs/plan.md"); got != seen("one") {
		t.Errorf("at first: %s", got)
	}
	a, told := c.replace(t, "docs/plan.md", "one", "two")
	if a.IsError || pathsOf(told.Changes.Held) != "docs/plan.md" || told.Project.Access != "review" || told.Changes.Of != f.project {
		t.Fatalf("an edit: %s", a.text())
	}
	for _, want := range []string{"Edited docs/plan.md at line 1:\n     1\ttwo\n", "1 change held, NOT in " + f.project + " yet", "applyChanges", told.Changes.ID} {
		if !strings.Contains(a.text(), want) {
			t.Errorf("the text lacks %q:\n%s", want, a.text())
		}
	}
	run := c.work(t, "cat docs/plan.md; echo three >> docs/plan.md; echo theirs > new")
	if run.Workspace != told.Workspace || pathsOf(run.Changes.Held) != "docs/plan.md new" {
		t.Errorf("a run after it: %+v", run)
	}
	for _, path := range []string{"docs/plan.md", "./docs//plan.md", "$PROJECT/docs/plan.md", "${PROJECT}/docs/plan.md", f.project + "/docs/plan.md"} {
		if got := c.view(t, path); got != seen("two")+"     2\tthree\n" {
			t.Errorf("view of %s: %s", path, got)
		}
	}
	a, told = c.create(t, f.project+"/docs/new/report.md", "text\n")
	if a.IsError || pathsOf(told.Changes.Held) != "docs/new docs/new/report.md docs/plan.md new" || !strings.HasPrefix(a.text(), "Created docs/new/report.md (1 line, 5 B).\n") {
		t.Errorf("a new file: %s", a.text())
	}
	if a, _ = c.create(t, "new", "mine\n"); !strings.HasPrefix(a.text(), "Replaced new") {
		t.Errorf("a program's file: %s", a.text())
	}
	if got := c.view(t, "."); got != "Directory .:\n- README.md (text/markdown, 11 B)\n- docs/\n- docs/new/\n- docs/plan.md (text/markdown, 10 B)\n- new (5 B)\n" {
		t.Errorf("the project: %s", got)
	}
	if got := content(t, f.project, "docs/plan.md"); got != "one\n" {
		t.Errorf("before it is applied there is %q", got)
	}
	a, told = c.onFiles(t, "applyChanges", map[string]any{"changes": c.work(t, "true").Changes.ID})
	if a.IsError || pathsOf(told.Applied) != "docs/new docs/new/report.md docs/plan.md new" {
		t.Fatalf("applied: %s", a.text())
	}
	if plan, made := content(t, f.project, "docs/plan.md"), content(t, f.project, "new"); plan != "two\nthree\n" || made != "mine\n" {
		t.Errorf("applied are %q and %q", plan, made)
	}
	if a, told = c.replace(t, "docs/plan.md", "three", "four"); a.IsError || pathsOf(told.Changes.Held) != "docs/plan.md" {
		t.Errorf("an edit after it: %s", a.text())
	}
}

// TestToolsetBesideProject: the workspace and further directories stay within
// reach, and bash_tool starts where relative paths lead.
func TestToolsetBesideProject(t *testing.T) {
	t.Parallel()
	f := filesFixture(t, asTheyAre, nil, "project=review", "share=review")
	c := f.connect(t)
	for _, path := range []string{"/workspace/note", "$WORKSPACE/note"} {
		a, told := c.create(t, path, "mine\n")
		if a.IsError || told.Changes.ID != "" || len(a.Content) != 2 || !strings.HasPrefix(a.Content[1].URI, "workspace://"+told.Workspace+"/note") {
			t.Fatalf("%s: %s", path, a.text())
		}
		if got := c.view(t, a.Content[1].URI); got != seen("mine") {
			t.Errorf("%s: %s", a.Content[1].URI, got)
		}
	}
	a, told := c.create(t, f.shared+"/note", "theirs\n")
	if a.IsError || told.Changes.Of != f.shared || len(told.Shares) != 1 || told.Project.Path != "" || !strings.HasPrefix(a.text(), "Created "+f.shared+"/note") {
		t.Errorf("a further directory: %s", a.text())
	}
	if got := c.view(t, f.shared); got != "Directory "+f.shared+":\n- "+f.shared+"/README.md (text/markdown, 9 B)\n- "+f.shared+"/note (7 B)\n" {
		t.Errorf("a further directory: %s", got)
	}
	for cwd, want := range map[string]string{"": "README.md", "project": "README.md", "workspace": "note"} {
		arguments := map[string]any{"command": "ls"}
		if cwd != "" {
			arguments["cwd"] = cwd
		}
		if a := c.call(t, "bash_tool", arguments); !strings.Contains(a.text(), "\n"+want+"\n") {
			t.Errorf("bash_tool in %q: %s", cwd, a.text())
		}
	}
	for _, path := range []string{"/etc/passwd", f.project + "x/a", f.project + "/../share/README.md", "../share/README.md", "$HOME/x", "~/x", filepath.Dir(f.project)} {
		for _, a := range []answer{c.call(t, "view", map[string]any{"path": path}), c.call(t, "create_file", map[string]any{"path": path, "file_text": ""})} {
			if a.code() != "invalid_path" {
				t.Errorf("%s: %s", path, a.text())
			}
		}
	}
	if a := c.call(t, "view", map[string]any{"path": "/etc/passwd"}); !strings.Contains(a.text(), "relative to the project") {
		t.Errorf("the hint: %s", a.text())
	}
	none := filesFixture(t, asTheyAre, nil).connect(t)
	if a := none.call(t, "view", map[string]any{"path": "$PROJECT/x"}); a.code() != "invalid_path" || !strings.Contains(a.text(), "there is no project") {
		t.Errorf("no project: %s", a.text())
	}
}

// TestToolsetHides: what programs do not see the tools do not show, and what is
// protected they do not write, wherever a link leads.
func TestToolsetHides(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	f := filesFixture(t, asTheyAre, map[string]string{
		".env": secret, "keys/id_rsa": secret, ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/x": "",
		".git/config": "[remote \"o\"]\n\turl = https://me:" + secret + "@example.com/x\n", "src/a": "a\n",
	}, "project=review", "protected=fixed/**")
	must(t, os.Symlink(".env", filepath.Join(f.project, "users")))
	outside := t.TempDir()
	writeFile(t, filepath.Join(outside, "x"), []byte(secret))
	c := f.connect(t)
	c.work(t, "ln -s .env plain; ln -s ../keys src/keys; ln -s .git/hooks hooks; ln -s "+outside+" out; ln -s "+outside+"/x x; ln -s ../../../../../../../etc up; ln -s src in; mkfifo fifo; mkdir .claude; ln -s .claude agents")
	for path, code := range map[string]string{
		".env": "file_not_found", "plain": "file_not_found", "users": "file_not_found", "src/keys/id_rsa": "file_not_found", ".ENV": "file_not_found",
		"out/x": "path_escape", "x": "path_escape", "up/passwd": "path_escape", "fifo": "file_not_found", "in/a": "", ".git/config": "",
	} {
		a := c.call(t, "view", map[string]any{"path": path})
		if a.code() != code || strings.Contains(a.text(), secret) {
			t.Errorf("view of %s: %s", path, a.text())
		}
		if code == "file_not_found" && path != "fifo" && !strings.Contains(a.text(), "hidden on purpose: it ") {
			t.Errorf("%s is not said to be hidden: %s", path, a.text())
		}
	}
	before := treeOf(t, f.project)
	for path, code := range map[string]string{
		".env": "permission_denied", "plain": "permission_denied", "sub/.env.local": "permission_denied", ".git/hooks/pre-commit": "permission_denied",
		"hooks/pre-commit": "permission_denied", ".git/config": "permission_denied", "agents/settings.json": "permission_denied",
		".CLAUDE/settings.json": "permission_denied", "fixed/x": "permission_denied", ".skills-mcp.yaml": "permission_denied", "out/x": "path_escape",
		"out/new": "path_escape", "x": "path_escape", "src": "is_directory", ".": "permission_denied", "src/a/b": "not_directory", "in/new": "",
		strings.Repeat("n", 300): "invalid_path",
	} {
		a := c.call(t, "create_file", map[string]any{"path": path, "file_text": "evil\n"})
		if a.code() != code || strings.Contains(a.text(), secret) || strings.Contains(a.text(), outside) {
			t.Errorf("create_file at %s: %s", path, a.text())
		}
		if code == "permission_denied" && path != "." && !strings.Contains(a.text(), "is protected: it ") {
			t.Errorf("%s is not said to be protected: %s", path, a.text())
		}
	}
	if got := content(t, outside, "x"); got != secret {
		t.Errorf("outside there is %q", got)
	}
	if after := treeOf(t, f.project); !slices.Equal(before, after) {
		t.Errorf("the project was %q and is %q", before, after)
	}
	if got := c.view(t, "src/new"); got != seen("evil") {
		t.Errorf("through a link inside: %s", got)
	}
}

// TestDiffsHoldNoPartOfASecret: a diff marks lines, between which a value would not
// be found.
func TestDiffsHoldNoPartOfASecret(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", 50) + longSecret + strings.Repeat("y", 50)))
	f := filesFixture(t, func(opts *server.Options) {
		opts.Redact = &redact.Set{}
		opts.Redact.Add("API_TOKEN", longSecret)
		opts.Redact.Add("API_TOKEN", longSecret+"-renewed")
	}, map[string]string{"key": longSecret + "\n"}, "project=review")
	c := f.connect(t)
	c.create(t, "wrapped", "old\n"+encoded[:76]+"\n"+encoded[76:]+"\n")
	c.replace(t, "wrapped", "old", "new")
	_, told := c.create(t, "key", longSecret+"-renewed\n")
	a := c.call(t, "readResource", map[string]any{"name": "report", "path": "changes://" + told.Changes.ID})
	if found := append(pieces(a.text(), encoded[68:112]), pieces(a.text(), longSecret)...); a.IsError || len(found) > 0 {
		t.Errorf("%q in %s", found, a.text())
	}
	for _, want := range []string{"+new\n+eHh4", "Binary files a/key and b/key differ\nold: 36 bytes", "new: 44 bytes"} {
		if !strings.Contains(a.text(), want) {
			t.Errorf("the diff lacks %q: %s", want, a.text())
		}
	}
}

// TestToolsetHeedsGrants: a skill in the project is protected from when it is
// granted something, with what of it is held already, and until that is revoked.
func TestToolsetHeedsGrants(t *testing.T) {
	t.Parallel()
	var granted atomic.Bool
	f := filesFixture(t, func(opts *server.Options) {
		opts.Shares.Project[0].Rules = func() (rules paths.Rules) {
			if granted.Load() {
				rules = rules.With(paths.Places{Granted: []string{"skills/weather"}})
			}
			return rules
		}
	}, map[string]string{"skills/weather/run.sh": "fetch\n"}, "project=write")
	c := f.connect(t)
	for _, is := range []bool{false, true, false} {
		granted.Store(is)
		a := c.call(t, "create_file", map[string]any{"path": "skills/weather/run.sh", "file_text": fmt.Sprintf("%t\n", is)})
		if refused := a.code() == "permission_denied" && strings.Contains(a.text(), "is of a skill that is granted something"); refused != is {
			t.Errorf("granted: %t: %s", is, a.text())
		}
		c.work(t, fmt.Sprintf("echo by-a-program-%t >skills/weather/run.sh", is))
		if got := content(t, f.project, "skills/weather/run.sh"); got != "by-a-program-false\n" {
			t.Errorf("granted: %t: the skill is %q", is, got)
		}
	}
}

// treeOf lists what is in a directory, with contents.
func treeOf(t *testing.T, dir string) (lines []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			path += "=" + content(t, path)
		}
		lines = append(lines, path)
		return err
	}))
	return lines
}

// TestToolsetModes: an edit follows the mode of a directory as a run does.
func TestToolsetModes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, mode, write, code, applied, held string }{
		{"read", "project=read", "", "permission_denied", "", ""},
		{"review", "project=review", "", "", "", "out out/a"},
		{"write", "project=write", "", "", "out out/a", ""},
		{"freed", "project=review", "write=out/**", "", "out out/a", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := filesFixture(t, asTheyAre, nil, test.mode, test.write)
			c := f.connect(t)
			if got := c.view(t, "README.md"); got != seen("A project.") {
				t.Errorf("view: %s", got)
			}
			a, told := c.create(t, "out/a", "new")
			if a.code() != test.code || pathsOf(told.Changes.Held) != test.held || pathsOf(told.Changes.Applied) != test.applied {
				t.Errorf("create_file: %s", a.text())
			}
			_, err := os.Stat(filepath.Join(f.project, "out/a"))
			if (err == nil) != (test.applied != "") {
				t.Errorf("the file: %v", err)
			}
		})
	}
}

// TestToolsetGrants: a skill's patterns hold for where a path lands, too.
func TestToolsetGrants(t *testing.T) {
	t.Parallel()
	f := filesFixture(t, asTheyAre, map[string]string{"docs/a": "a\n", "src/a": "a\n"}, "project=review", "share=review")
	writeFile(t, filepath.Join(f.root, "bound", "SKILL.md"), []byte("---\nname: bound\ndescription: Does little.\nallowed-tools: Read(docs/**) Edit(/out/*) Read(/"+f.shared+"/**)\n---\n"))
	_, err := f.catalog.Rescan(t.Context())
	must(t, err)
	c := f.connect(t)
	c.work(t, "mkdir out; ln -s ../src/a docs/link; ln -s ../src/new out/link; ln -s out other")
	for path, codes := range map[string][2]string{
		"docs/a": {"", "permission_denied"}, "src/a": {"permission_denied", "permission_denied"}, "docs/link": {"permission_denied", "permission_denied"},
		"out/new": {"permission_denied", ""}, "out/link": {"permission_denied", "permission_denied"}, "other/new": {"permission_denied", "permission_denied"},
		f.project + "/docs/a": {"", "permission_denied"}, f.shared + "/README.md": {"", "permission_denied"}, "/workspace/docs/b": {"file_not_found", "permission_denied"},
	} {
		for i, a := range []answer{
			c.call(t, "view", map[string]any{"path": path, "name": "bound"}),
			c.call(t, "create_file", map[string]any{"path": path, "file_text": "x", "name": "bound"}),
		} {
			if a.code() != codes[i] {
				t.Errorf("%s, call %d: %s", path, i, a.text())
			}
		}
	}
}

// TestToolsetWaits: an edit waits for a run of the same workspace, but not for
// long, and one in another workspace does not wait.
func TestToolsetWaits(t *testing.T) {
	t.Parallel()
	user := userDir(t)
	f := filesFixture(t, asTheyAre, nil, "project=review", "user="+user, "wait=50ms")
	c, other := f.connect(t), filesFixture(t, asTheyAre, nil, "project=review", "user="+user).connect(t)
	held := c.work(t, "touch held")
	ws := held.Workspace
	proceed := filepath.Join(t.TempDir(), "go")
	running := c.startExec(t, "report", map[string]any{"command": "touch $WORKSPACE/begun; until [ -e " + proceed + " ]; do sleep 0.02; done; echo theirs > README.md"})
	begun, err := filepath.Glob(filepath.Join(f.workspaceBase, "*", ws))
	if err != nil || len(begun) != 1 {
		t.Fatal(begun, err)
	}
	awaitFile(t, filepath.Join(begun[0], "begun"))
	a, _ := c.create(t, "README.md", "mine\n")
	if a.code() != "changes_busy" || !strings.Contains(a.text(), "Try again when that has ended") {
		t.Errorf("while a run works there: %s", a.text())
	}
	if got := c.view(t, "README.md"); got != seen("A project.") {
		t.Errorf("view does not wait: %s", got)
	}
	for _, discard := range []bool{false, true} {
		if a, _ := c.onFiles(t, "applyChanges", map[string]any{"changes": held.Changes.ID, "discard": discard}); a.code() != "changes_busy" {
			t.Errorf("applyChanges while a run works there: %s", a.text())
		}
	}
	if a, told := other.create(t, "README.md", "other\n"); a.IsError || told.Workspace == ws {
		t.Errorf("in another workspace: %s", a.text())
	}
	writeFile(t, proceed, nil)
	if run := decodeRan(t, c.await(t, running, "the run")); run.exit() != 0 {
		t.Fatalf("%+v", run)
	}
	if a, _ := c.replace(t, "README.md", "theirs", "ours"); a.IsError {
		t.Errorf("after it: %s", a.text())
	}
}

func awaitFile(t *testing.T, name string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is not there", name)
		}
	}
}

// TestToolsetQuotaOfChanges: what is held counts for the workspace, for edits of
// its own files too, and can be discarded.
func TestToolsetQuotaOfChanges(t *testing.T) {
	t.Parallel()
	f := filesFixture(t, func(o *server.Options) {
		o.Limits = func(string) server.Limits { return server.Limits{Limits: sandbox.Limits{WorkspaceBytes: 1 << 20}} }
	}, map[string]string{"big": strings.Repeat("x\n", 300<<10) + "end\n"}, "project=review")
	c := f.connect(t)
	most := strings.Repeat("y", 600<<10)
	a, told := c.create(t, "first", most)
	if a.IsError {
		t.Fatal(a.text())
	}
	for path, file := range map[string]func(path string) answer{
		"second":            func(path string) answer { a, _ := c.create(t, path, most); return a },
		"/workspace/second": func(path string) answer { a, _ := c.create(t, path, most); return a },
		"big":               func(path string) answer { a, _ := c.replace(t, path, "end", "END"); return a },
	} {
		if a := file(path); a.code() != "workspace_full" || !strings.Contains(a.text(), "apply or discard what is held") {
			t.Errorf("%s: %.300s", path, a.text())
		}
	}
	if got := c.work(t, "true"); pathsOf(got.Changes.Held) != "first" {
		t.Errorf("held are %+v", got.Changes.Held)
	}
	if a, _ := c.onFiles(t, "applyChanges", map[string]any{"changes": told.Changes.ID, "discard": true}); a.IsError {
		t.Fatal(a.text())
	}
	if a, _ := c.create(t, "second", most); a.IsError {
		t.Errorf("after it was discarded: %s", a.text())
	}
}

// TestToolsetGone: a project that is gone is said to be, and nothing is written
// elsewhere in its place.
func TestToolsetGone(t *testing.T) {
	t.Parallel()
	f := filesFixture(t, asTheyAre, nil, "project=review")
	c := f.connect(t)
	must(t, os.Rename(f.project, f.project+"-moved"))
	a, _ := c.create(t, "a", "x")
	if a.code() != "changes_unusable" || !strings.Contains(a.text(), "is not there") {
		t.Errorf("create_file: %s", a.text())
	}
	if a := c.call(t, "view", map[string]any{"path": "."}); a.code() != "changes_unusable" {
		t.Errorf("view: %s", a.text())
	}
	if _, err := os.Stat(f.project); err == nil {
		t.Error("the project was made again")
	}
}

// TestApplyIsBounded: an answer lists as much of what was applied as one of exec
// does, and says how much more there is; so does one of a run that applied it.
func TestApplyIsBounded(t *testing.T) {
	t.Parallel()
	const files, most = 130, 100
	for mode, tool := range map[string]string{"review": "applyChanges", "write": "exec"} {
		f := userFixture(t, asTheyAre, "project="+mode)
		c := f.connect(t)
		a, told := c.onFiles(t, "exec", map[string]any{"name": "report", "command": "for i in $(seq 130); do echo > f$i; done"})
		if mode == "review" {
			a = c.call(t, "applyChanges", map[string]any{"changes": told.Changes.ID})
		}
		var done struct {
			Applied        []heldFile
			AppliedOmitted int
			Changes        json.RawMessage
		}
		must(t, json.Unmarshal(a.Structured, &done))
		if mode == "write" {
			must(t, json.Unmarshal(done.Changes, &done))
		}
		if len(done.Applied) != most || done.AppliedOmitted != files-most {
			t.Errorf("%s lists %d and omits %d", tool, len(done.Applied), done.AppliedOmitted)
		}
		if names, err := os.ReadDir(f.project); err != nil || len(names) != files+1 {
			t.Errorf("%s applied %d files, %v", tool, len(names)-1, err)
		}
		if text := a.text(); mode == "review" && (!strings.Contains(text, "130 changes") || !strings.Contains(text, "applied: 30 more")) {
			t.Errorf("%s: %s", tool, text)
		}
	}
}
