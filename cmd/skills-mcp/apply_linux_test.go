package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/changesets"
	"github.com/skills-mcp/skills-mcp/cmd/skills-mcp/internal/exit"
	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
)

// What is changed of the user's files at a terminal is recorded, and what cannot
// be recorded is not changed.
func TestApplyIsRecorded(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	project, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	id := heldChange(t, project)
	written := filepath.Join(project, "new.txt")
	broken := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(broken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	skillsMCP := func(wantCode int, args ...string) string {
		t.Helper()
		var out strings.Builder
		if code := run(t.Context(), args, strings.NewReader(""), &out, &out); code != wantCode {
			t.Fatalf("%v exits with %d: %s", args, code, out.String())
		}
		return out.String()
	}

	if out := skillsMCP(exit.Failure, "apply", "--audit", broken, "--yes", id); !strings.Contains(out, "audit log: ") {
		t.Errorf("refused with %s", out)
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("what could not be recorded was applied")
	}
	applied := skillsMCP(exit.OK, "apply", "--yes", id)
	if _, err := os.Stat(written); err != nil {
		t.Error(err)
	}
	_, undo, _ := strings.Cut(strings.TrimSpace(applied), "skills-mcp undo ")
	skillsMCP(exit.OK, "undo", undo)
	if _, err := os.Stat(written); err == nil {
		t.Error("it was not taken back")
	}
	skillsMCP(exit.Usage, "undo", "ap-0123456789abcdef")

	lines := strings.Split(skillsMCP(exit.OK, "audit"), "\n")
	for i, want := range []string{
		"apply report " + id + ": 0 held, 1 applied, 0 conflicts, 0 refused",
		"undo - " + undo + ": 0 held, 1 applied, 0 conflicts, 0 refused",
		"undo -",
	} {
		line := strings.Join(strings.Fields(lines[i]), " ")
		for word := range strings.FieldsSeq(want) {
			if !slices.Contains(strings.Fields(strings.ReplaceAll(line, ",", "")), strings.ReplaceAll(word, ",", "")) {
				t.Errorf("line %d is %q, not as %q", i, line, want)
				break
			}
		}
		if outcome := strings.Fields(line)[1]; (outcome == string(audit.Failed)) != (i == 2) {
			t.Errorf("line %d is %q", i, line)
		}
	}
}

// heldChange returns the id of a change set that holds one file.
func heldChange(t *testing.T, project string) string {
	t.Helper()
	store, err := changesets.OpenStore(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	set, err := store.New(changes.Target{Path: project, Label: "project", Skill: "report"})
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	release, err := set.Use(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	upper := filepath.Join(set.Dir(), sandbox.UpperDir)
	if err := os.MkdirAll(upper, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(upper, "new.txt"), []byte("new"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	held, err := set.Held(t.Context(), func(string, changes.Change) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	return held.ID
}
