package integration

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
)

// What the tools of the toolset workspace write, programs can change and
// remove, and the other way round, whoever programs run as.
func TestToolsetSharesFiles(t *testing.T) {
	testenv.Slow(t, "every backend is opened for the same steps")
	t.Parallel()
	for _, sandbox := range []string{"local", "docker", "unsafe-host"} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			writeSkill(t, root, "open", "Anything may be run.")
			needSandbox(t, sandbox, root)
			w := dial(t, program.Home(t), "--sandbox="+sandbox, "--toolsets=workspace", "--project=off", root)
			w.handshake(t)
			for _, step := range []struct {
				tool      string
				arguments map[string]any
				shows     string
			}{
				{"create_file", map[string]any{"path": "a/b/ours", "file_text": "1\n"}, "Created a/b/ours"},
				{"bash_tool", map[string]any{"command": "echo 2 >> a/b/ours && echo 1 > a/b/theirs && chmod 750 a/b/theirs && mkdir a/c && mv a/b/ours a/c/ours && cat a/c/ours"}, "1\n2\n"},
				{"str_replace", map[string]any{"path": "a/c/ours", "old_str": "2", "new_str": "3"}, "3"},
				{"str_replace", map[string]any{"path": "/workspace/a/b/theirs", "old_str": "1", "new_str": "2"}, "2"},
				{"create_file", map[string]any{"path": "a/c/new/file", "file_text": "1"}, "Created"},
				{"view", map[string]any{"path": "a"}, "- a/b/theirs"},
				{"bash_tool", map[string]any{"command": "stat -c %a a/b/theirs && echo x >> a/b/theirs && echo x >> a/c/ours && touch a/c/new/too && echo x > a/c/new/file", "name": "open"}, "750\n"},
				{"bash_tool", map[string]any{"command": "rm -r a && ls", "description": "tidies up"}, "exit code 0"},
			} {
				result := w.callTool(t, step.tool, step.arguments)
				if text := result.Content[0].Text; result.IsError || !strings.Contains(text, step.shows) {
					t.Fatalf("%s %v: %s", step.tool, step.arguments, text)
				}
			}
		})
	}
}

// needSandbox skips the test where programs cannot be run so.
func needSandbox(t *testing.T, sandbox, root string) {
	t.Helper()
	if sandbox == "docker" {
		require(t, "docker")
	}
	call := exec.Command(program.Binary(t), "call", "--sandbox="+sandbox, "--root", root, "exec", "name=open", "command=true")
	call.Env = program.Home(t)
	out, err := call.CombinedOutput()
	if err != nil {
		t.Skipf("no sandbox %s here: %s", sandbox, out)
	}
}

// TestToolsetOnProject: two clients work on one project at once, each with its own
// server, by tools and by programs that see what the tools wrote, wherever these
// run. Nothing is in the project before it is applied, and what the other has
// applied meanwhile is a conflict.
func TestToolsetOnProject(t *testing.T) {
	testenv.Slow(t, "every backend is opened for the same steps")
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("programs see a project on Linux only")
	}
	for _, sandbox := range []string{"local", "docker", "unsafe-host"} {
		t.Run(sandbox, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			writeSkill(t, root, "open", "Anything may be run.")
			needSandbox(t, sandbox, root)
			project := testfiles.Dir(t, map[string]string{"docs/plan.md": "one\ntwo\n", ".env": "TOKEN=x\n"})
			first, second := toolsetClient(t, sandbox, project, root), toolsetClient(t, sandbox, project, root)
			for _, step := range []struct {
				tool      string
				arguments map[string]any
				shows     string
			}{
				{"view", map[string]any{"path": "."}, "- docs/plan.md"},
				{"view", map[string]any{"path": ".env"}, "is hidden on purpose"},
				{"str_replace", map[string]any{"path": filepath.Join(project, "docs/plan.md"), "old_str": "one", "new_str": "ONE"}, "1 change held, NOT in " + project},
				{"create_file", map[string]any{"path": "out/new/a", "file_text": "1\n"}, "4 changes held"},
				{"bash_tool", map[string]any{"command": "pwd; cat docs/plan.md out/new/a; echo 2 >> out/new/a; mkdir -p gone; rm -r gone; ln -s out link"}, "ONE\ntwo\n1\n"},
				{"str_replace", map[string]any{"path": "link/new/a", "old_str": "2", "new_str": "3"}, "Edited link/new/a at line 2"},
				{"bash_tool", map[string]any{"command": "cat out/new/a && rm -r out && touch out"}, "1\n3\n"},
				{"create_file", map[string]any{"path": "out/x", "file_text": "x"}, "not_directory"},
				{"create_file", map[string]any{"path": ".git/hooks/pre-commit", "file_text": "x"}, "is protected"},
				{"bash_tool", map[string]any{"command": "rm out; rm -r docs"}, "exit code 0"},
				{"create_file", map[string]any{"path": "docs/new.md", "file_text": "new\n"}, "held: deleted docs/plan.md"},
				{"bash_tool", map[string]any{"command": "ls docs; stat -c %a docs/new.md", "cwd": "project"}, "new.md\n644\n"},
			} {
				if text := first.callTool(t, step.tool, step.arguments).Content[0].Text; !strings.Contains(text, step.shows) {
					t.Fatalf("%s %v: %s", step.tool, step.arguments, text)
				}
			}
			if contentsOf(t, filepath.Join(project, "docs/plan.md")) != "one\ntwo\n" {
				t.Error("the project has changed")
			}
			theirs := heldAfter(t, second.callTool(t, "str_replace", map[string]any{"path": "docs/plan.md", "old_str": "two", "new_str": "TWO"}))
			mine := heldAfter(t, first.callTool(t, "create_file", map[string]any{"path": "docs/new.md", "file_text": "newer\n"}))
			if done := applyHeld(t, first, mine); len(done.Applied) != 3 || contentsOf(t, filepath.Join(project, "docs/new.md")) != "newer\n" || exists(filepath.Join(project, "docs/plan.md")) {
				t.Errorf("applied: %+v", done)
			}
			if done := applyHeld(t, second, theirs); len(done.Applied) != 0 || len(done.Conflicts) != 1 || done.Conflicts[0].Path != "docs/plan.md" {
				t.Errorf("the other's: %+v", done)
			}
		})
	}
}

// toolsetClient starts a server with the toolset and a project.
func toolsetClient(t *testing.T, sandbox, project, root string) *wire {
	t.Helper()
	w := dial(t, program.Home(t), "--sandbox="+sandbox, "--toolsets=workspace", "--project", project, root)
	w.handshake(t)
	return w
}

func heldAfter(t *testing.T, result toolResult) changeSet {
	t.Helper()
	var told struct{ Changes changeSet }
	if err := json.Unmarshal(result.StructuredContent, &told); err != nil || result.IsError || told.Changes.ID == "" {
		t.Fatalf("nothing is held: %v %v", result.Content, err)
	}
	return told.Changes
}

func applyHeld(t *testing.T, w *wire, set changeSet) (done applied) {
	t.Helper()
	result := w.callTool(t, "applyChanges", map[string]any{"changes": set.ID})
	if err := json.Unmarshal(result.StructuredContent, &done); err != nil {
		t.Fatalf("applyChanges: %v %v", result.Content, err)
	}
	return done
}
