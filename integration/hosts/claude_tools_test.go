package hosts

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

const triage = "log-triage"

// ran is exec's structured content, which is all that Claude Code shows.
type ran struct {
	Status    string `json:"status"`
	ExitCode  *int   `json:"exitCode"`
	Stdout    string `json:"stdout"`
	Stderr    string `json:"stderr"`
	Workspace string `json:"workspace"`
	Artifacts []struct {
		Path     string `json:"filename"`
		URI      string `json:"id"`
		Size     int64  `json:"size"`
		MIMEType string `json:"mimeType"`
	} `json:"artifacts"`
	Sandbox struct {
		Backend string `json:"backend"`
		Tier    string `json:"tier"`
		Notice  string `json:"notice"`
	} `json:"sandbox"`
}

// The journey of the model through one skill: find, activate, read, execute,
// fetch what came out.
func TestClaudeCodeUsesTheTools(t *testing.T) {
	t.Parallel()
	require(t, "node")
	for name, register := range map[string]func(t *testing.T, m *model) *claude{
		"stdio": func(t *testing.T, m *model) *claude { return newClaude(t, m, sampleRoot(t)) },
		"http": func(t *testing.T, m *model) *claude {
			return registered(t, m, map[string]any{"type": "http", "url": serve(t, program.Home(t), sampleRoot(t))})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "stdio" {
				testenv.Slow(t, "another start of a whole agent")
			}
			m := newModel(t,
				use(toolUse{"findSkills", map[string]any{"query": "what went wrong in this log"}}),
				use(toolUse{"activate", map[string]any{"name": triage, "arguments": "the harbour's log"}}),
				// Reading is safe at the same time, so Claude Code does it so.
				use(
					toolUse{"readResource", map[string]any{"name": triage, "path": "references/severities.md"}},
					toolUse{"readResource", map[string]any{"name": triage, "path": "references"}},
					toolUse{"readResource", map[string]any{"name": "brand-kit", "path": "assets/logo mark.png"}},
				),
				use(toolUse{"exec", map[string]any{"name": triage, "script": "scripts/triage.sh", "args": []string{"assets/sample.log"}}}),
				readArtifact,
			)
			got := register(t, m).script(t)
			if len(got) != 7 {
				t.Fatalf("%d results: %+v", len(got), got)
			}
			for _, result := range got {
				if result.IsError {
					t.Errorf("%s is an error: %s", result.ToolUseID, result.Content.text())
				}
			}
			checkFound(t, got[0])
			checkActivated(t, got[1])
			checkRead(t, got[2:5])
			checkRan(t, got[5], got[6])
		})
	}
}

// readArtifact reads the file that the last exec made, by the URI that the
// model was given.
func readArtifact(results []block) []toolUse {
	var run ran
	last := results[len(results)-1].Content.ofType("text")
	if json.Unmarshal([]byte(last[len(last)-1].Text), &run) != nil || len(run.Artifacts) == 0 {
		return nil
	}
	return []toolUse{{"readResource", map[string]any{"name": triage, "path": run.Artifacts[0].URI}}}
}

func checkFound(t *testing.T, result block) {
	t.Helper()
	var found struct {
		Skills []struct{ Name, Description, URI string }
		Total  int
	}
	if err := json.Unmarshal([]byte(result.Content.text()), &found); err != nil {
		t.Fatalf("findSkills: %v in %s", err, result.Content.text())
	}
	if len(found.Skills) == 0 || found.Total < len(found.Skills) {
		t.Fatalf("findSkills: %+v", found)
	}
	first := found.Skills[0]
	if first.Name != triage || first.Description == "" || first.URI != "skill://log-triage/SKILL.md" {
		t.Errorf("findSkills gives first %+v", first)
	}
}

func checkActivated(t *testing.T, result block) {
	t.Helper()
	_, body, _ := strings.Cut(sample(t, "log-triage/SKILL.md"), "\n---\n")
	text := result.Content.text()
	for _, want := range []string{
		`<skill_content name="log-triage">`, strings.TrimSpace(body), "ARGUMENTS: the harbour's log",
		"references/severities.md", "scripts/triage.sh", "Allowed tools:", "unsafe-host", "</skill_content>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("activate lacks %q:\n%s", want, text)
		}
	}
}

func checkRead(t *testing.T, read []block) {
	t.Helper()
	if got, want := read[0].Content.text(), sample(t, "log-triage/references/severities.md"); strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("readResource gives %q, want %q", got, want)
	}
	for _, entry := range []string{"references/severities.md", "references/next-steps.md"} {
		if !strings.Contains(read[1].Content.text(), entry) {
			t.Errorf("the listing lacks %s: %s", entry, read[1].Content.text())
		}
	}
	images := read[2].Content.ofType("image")
	if len(images) != 1 || images[0].Source.MediaType != "image/png" {
		t.Fatalf("%d images: %+v", len(images), read[2].Content)
	}
	data, err := base64.StdEncoding.DecodeString(images[0].Source.Data)
	if err != nil || string(data) != sample(t, "brand-kit/assets/logo mark.png") {
		t.Errorf("the image is not the file: %d bytes, %v", len(data), err)
	}
}

func checkRan(t *testing.T, result, artifact block) {
	t.Helper()
	texts := result.Content.ofType("text")
	var run ran
	if err := json.Unmarshal([]byte(texts[len(texts)-1].Text), &run); err != nil {
		t.Fatalf("exec: %v in %s", err, result.Content.text())
	}
	if run.Status != "exited" || run.ExitCode == nil || *run.ExitCode != 0 || run.Stderr != "" ||
		!strings.Contains(run.Stdout, "## By severity") || run.Workspace == "" {
		t.Errorf("exec: %+v", run)
	}
	if run.Sandbox.Backend != "unsafe-host" || run.Sandbox.Tier != "none" || run.Sandbox.Notice == "" {
		t.Errorf("exec ran in %+v", run.Sandbox)
	}
	if len(run.Artifacts) != 1 || run.Artifacts[0].Path != "log-triage.md" || run.Artifacts[0].MIMEType != "text/markdown" {
		t.Fatalf("artifacts: %+v", run.Artifacts)
	}
	made := run.Artifacts[0]
	if link := "[Resource link: log-triage.md] " + made.URI; !strings.HasPrefix(made.URI, "workspace://") || !strings.Contains(result.Content.text(), link) {
		t.Errorf("exec lacks %q: %s", link, result.Content.text())
	}
	report := artifact.Content.text()
	if int64(len(report)) != made.Size || !strings.Contains(run.Stdout, strings.TrimSpace(report)) {
		t.Errorf("%s has %d bytes, is %q, and the script printed %q", made.URI, made.Size, report, run.Stdout)
	}
}

// An error reaches the model as one, with its code first.
func TestClaudeCodeShowsErrors(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	tests := []struct {
		use  toolUse
		code string
		hint string
	}{
		{toolUse{"activate", map[string]any{"name": "log-triaje"}}, "skill_not_found", `"log-triage"`},
		{toolUse{"readResource", map[string]any{"name": triage, "path": "../../etc/passwd"}}, "invalid_path", "Next: "},
		{toolUse{"readResource", map[string]any{"name": triage, "path": "none.md"}}, "file_not_found", "Next: "},
		{toolUse{"exec", map[string]any{"name": triage, "command": "id"}}, "permission_denied", "Next: "},
		{toolUse{"exec", map[string]any{"name": triage, "script": "scripts/triage.sh", "args": []string{"--top", "many"}}},
			"execution_failed", "triage.sh: --top wants a number"},
	}
	var script []turn
	for _, test := range tests {
		script = append(script, use(test.use))
	}
	for i, result := range newClaude(t, newModel(t, script...), sampleRoot(t)).script(t) {
		text := result.Content.text()
		if !result.IsError || !strings.HasPrefix(text, tests[i].code+": ") || !strings.Contains(text, tests[i].hint) {
			t.Errorf("%+v: is_error=%v %s", tests[i].use, result.IsError, text)
		}
	}
}

// What is long arrives whole: Claude Code otherwise puts it into a file and
// shows the model 2 kB of it.
func TestClaudeCodeShowsLongResultsWhole(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	root := t.TempDir()
	body := strings.Repeat("Do this, and then the next.\n", 6000)
	page := strings.Repeat("Was der Leuchtturmwärter weiß.\n", 3000)
	writeSkill(t, root, "long", body)
	writeFile(t, filepath.Join(root, "long/references/long.md"), page)
	writeFile(t, filepath.Join(root, "long/scripts/print.sh"), "#!/bin/sh\n"+
		"cat \"$SKILL_DIR/references/long.md\"\necho end\n"+
		"cat \"$SKILL_DIR/references/long.md\" >&2\necho end >&2\n")
	got := newClaude(t, newModel(t,
		use(toolUse{"activate", map[string]any{"name": "long"}}),
		use(toolUse{"readResource", map[string]any{"name": "long", "path": "references/long.md"}}),
		use(toolUse{"exec", map[string]any{"name": "long", "script": "scripts/print.sh"}}),
	), root).script(t)
	if text := got[0].Content.text(); !strings.Contains(text, strings.TrimSpace(body)) {
		t.Errorf("activate gives %d bytes of %d: %.300s", len(text), len(body), text)
	}
	if text := got[1].Content.text(); text != page {
		t.Errorf("readResource gives %d bytes of %d: %.300s", len(text), len(page), text)
	}
	var run ran
	if err := json.Unmarshal([]byte(got[2].Content.text()), &run); err != nil {
		t.Fatalf("exec: %v %.300s", err, got[2].Content.text())
	}
	// The server keeps the head and the tail of a stream, half of this each.
	const kept = 32 << 10
	for name, stream := range map[string]string{"stdout": run.Stdout, "stderr": run.Stderr} {
		if len(stream) < kept || !strings.HasPrefix(stream, page[:1000]) || !strings.HasSuffix(stream, page[len(page)-1000:]+"end\n") {
			t.Errorf("exec gives %d bytes of %s: %.300s", len(stream), name, stream)
		}
	}
}
