package server_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// TestEditDuringARun: a run sees one version to its end, and the next one the
// newest.
func TestEditDuringARun(t *testing.T) {
	t.Parallel()
	needBash(t)
	root, dir, _ := plantSwap(t)
	body := filepath.Join(dir, "data.txt")
	writeFile(t, body, []byte("first"))
	writeFile(t, filepath.Join(dir, "scripts", "run.sh"), []byte(
		"cat \"$SKILL_DIR/data.txt\"; : > begun; until [ -e go ]; do sleep 0.01; done; cat \"$SKILL_DIR/data.txt\"; . \"$SKILL_DIR/late.sh\""))
	writeFile(t, filepath.Join(dir, "late.sh"), []byte("echo .\n"))
	var workspace atomic.Value
	f := newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend { return watched{plain, &workspace} })
	c := f.connect(t)
	answer := c.startExec(t, "swap", script("scripts/run.sh"))
	await(t, func() bool {
		dir, _ := workspace.Load().(string)
		_, err := os.Stat(filepath.Join(dir, "begun"))
		return dir != "" && err == nil
	})
	writeFile(t, body, []byte("second"))
	must(t, os.Remove(filepath.Join(dir, "late.sh")))
	second := c.exec(t, "swap", map[string]any{"command": `cat "$SKILL_DIR/data.txt"; ls "$SKILL_DIR"`})
	if second.Stdout != "secondSKILL.md\ndata.txt\nscripts\n" {
		t.Errorf("the next run: %+v", second)
	}
	writeFile(t, filepath.Join(workspace.Load().(string), "go"), nil)
	if first := decodeRan(t, c.await(t, answer, "exec")); first.Stdout != "firstfirst.\n" {
		t.Errorf("the run that was begun: %+v", first)
	}
}

// watched is a backend that tells in which workspace it runs.
type watched struct {
	sandbox.Backend
	workspace *atomic.Value
}

func (w watched) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	w.workspace.Store(spec.Workspace)
	return w.Backend.Run(ctx, spec)
}

// await waits until something holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
	}
}

// TestProgramsCannotWriteIntoTheSkill: not even where nothing is isolated, and
// what root wrote there all the same is gone in the next run.
func TestProgramsCannotWriteIntoTheSkill(t *testing.T) {
	t.Parallel()
	needBash(t)
	root, dir, _ := plantSwap(t)
	c := newFixture(t, root).connect(t)
	const write = `echo evil > "$SKILL_DIR/scripts/run.sh" && echo wrote; echo x > "$SKILL_DIR/new"`
	run := c.exec(t, "swap", map[string]any{"command": write})
	if root := os.Geteuid() == 0; (run.Stdout == "wrote\n") != root {
		t.Errorf("writing into the skill: %+v", run)
	}
	if run := c.exec(t, "swap", map[string]any{"command": `cat "$SKILL_DIR/scripts/run.sh"; ls "$SKILL_DIR"`}); run.Stdout != "echo good\nSKILL.md\nscripts\n" {
		t.Errorf("the next run sees %+v", run)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "scripts", "run.sh")); string(text) != "echo good\n" {
		t.Errorf("the skill itself reads %q, %v", text, err)
	}
}

// TestSkillTooLargeToRun: it says so, and can be read all the same.
func TestSkillTooLargeToRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the file would take the disk")
	}
	root, dir, _ := plantSwap(t)
	writeFile(t, filepath.Join(dir, "big.bin"), nil)
	must(t, os.Truncate(filepath.Join(dir, "big.bin"), 2<<30))
	c := newFixture(t, root).connect(t)
	a := c.call(t, "exec", map[string]any{"name": "swap", "script": "scripts/run.sh"})
	if a.code() != "too_large" || !strings.Contains(a.text(), "Next: ") {
		t.Errorf("exec: %s", a.text())
	}
	if a := c.call(t, "activate", map[string]any{"name": "swap"}); a.IsError {
		t.Errorf("activate: %s", a.text())
	}
}

// TestBrokenSkillRuns: after a save that cannot be used the skill runs, with
// the rights of its last good version.
func TestBrokenSkillRuns(t *testing.T) {
	t.Parallel()
	needBash(t)
	root, dir, _ := plantSwap(t)
	writeFile(t, filepath.Join(dir, "SKILL.md"), []byte("---\nname: swap\ndescription: Is swapped.\nallowed-tools: Bash(scripts/run.sh:*)\n---\n"))
	f := newFixture(t, root)
	c := f.connect(t)
	writeFile(t, filepath.Join(dir, "SKILL.md"), []byte("---\nname: [swap\nallowed-tools: Bash\n---\n"))
	if run := c.exec(t, "swap", script("scripts/run.sh")); run.Stdout != "good\n" {
		t.Errorf("what it may: %+v", run)
	}
	if a := c.call(t, "exec", map[string]any{"name": "swap", "command": "id"}); a.code() != "permission_denied" {
		t.Errorf("what it may not: %s", a.text())
	}
}
