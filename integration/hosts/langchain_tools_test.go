package hosts

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// In every way in which LangChain speaks to a server, every tool is a LangChain
// tool, and each gives what it should.
func TestLangChain(t *testing.T) {
	t.Parallel()
	for i, a := range adapters {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			if i > 0 {
				testenv.Slow(t, "another way in which LangChain speaks to a server")
			}
			if a.again {
				testenv.Variant(t, "another pair of a transport and of sessions, each shown in others")
			}
			l := a.start(t, sampleRoot(t), writeNotes(t))
			t.Run("tools", l.testTools)
			t.Run("reads", l.testReads)
			t.Run("runs", l.testRuns)
			t.Run("arguments", l.testArguments)
			t.Run("together and in turn", l.testTogetherAndInTurn)
			t.Run("errors", l.testErrors)
		})
	}
}

func (l *langchain) testTools(t *testing.T) {
	var loaded []string
	for _, tool := range l.tools {
		loaded = append(loaded, tool.Name)
		if !tool.Structured || tool.Description == "" || len(tool.Schema.Properties) == 0 {
			t.Errorf("%s is no usable tool: %+v", tool.Name, tool)
		}
		want := map[string]string{"findSkills": "", "applyChanges": "changes"}
		if needs, other := want[tool.Name]; slices.Contains(tool.Schema.Required, "name") == other ||
			needs != "" && !slices.Contains(tool.Schema.Required, needs) {
			t.Errorf("%s requires %q", tool.Name, tool.Schema.Required)
		}
	}
	slices.Sort(loaded)
	if !slices.Equal(loaded, ourTools) {
		t.Errorf("tools are %q, want %q", loaded, ourTools)
	}
}

func (l *langchain) testReads(t *testing.T) {
	found := l.one(t, invocation{Tool: "findSkills", Input: map[string]any{"query": "what went wrong in this log"}})
	if !strings.HasPrefix(found.text(), "- log-triage: ") {
		t.Errorf("findSkills: %s", found.text())
	}
	activated := l.one(t, invocation{Tool: "activate", Input: map[string]any{"name": triage}})
	if !strings.HasPrefix(activated.text(), `<skill_content name="log-triage">`) {
		t.Errorf("activate: %s", activated.text())
	}
	const file = "references/severities.md"
	for _, message := range []bool{false, true} {
		read := l.one(t, invocation{"readResource", map[string]any{"name": triage, "path": file}, message})
		if want := sample(t, triage+"/"+file); read.text() != want {
			t.Errorf("readResource gives %q, want %q", read.text(), want)
		}
	}
	image := l.one(t, invocation{"readResource", map[string]any{"name": "brand-kit", "path": "assets/logo mark.png"}, true})
	i := slices.IndexFunc(image.Content, func(b langchainBlock) bool { return b.Type == "image" })
	if i < 0 {
		t.Fatalf("no image: %+v", image)
	}
	block := image.Content[i]
	data, err := base64.StdEncoding.DecodeString(block.Base64 + block.Data)
	if err != nil || block.MIMEType != "image/png" || string(data) != sample(t, "brand-kit/assets/logo mark.png") {
		t.Errorf("the image is %s of %d bytes and not the file: %v", block.MIMEType, len(data), err)
	}
}

func (l *langchain) testRuns(t *testing.T) {
	result := l.one(t, invocation{"exec", map[string]any{
		"name": triage, "script": "scripts/triage.sh", "args": []string{"assets/sample.log"},
	}, true})
	run := result.run(t)
	if run.ExitCode == nil || *run.ExitCode != 0 || !strings.Contains(run.Stdout, "## By severity") ||
		len(run.Artifacts) != 1 || run.Artifacts[0].MIMEType != "text/markdown" {
		t.Fatalf("exec: %+v", run)
	}
	made := run.Artifacts[0].URI
	// The model sees the text, and in it what to read the file by.
	if !strings.Contains(result.text(), run.Stdout) || !strings.Contains(result.text(), made) {
		t.Errorf("exec shows the model %s", result.text())
	}
	if l.transport == "stdio" && l.sessions == "each" {
		return // the file is gone with the server that made it
	}
	report := l.one(t, invocation{Tool: "readResource", Input: map[string]any{"name": triage, "path": made}}).text()
	if report == "" || int64(len(report)) != run.Artifacts[0].Size {
		t.Errorf("%s has %d bytes and is %q", made, run.Artifacts[0].Size, report)
	}
}

// writeNotes makes skills for what the samples do not show.
func writeNotes(t *testing.T) (root string) {
	t.Helper()
	root = t.TempDir()
	writeSkill(t, root, "greet", "Greet $ARGUMENTS.\n\nThen say goodbye to $ARGUMENTS, and not to $ARGUMENT.")
	writeSkill(t, root, "plain", "Only this.")
	writeSkill(t, root, "notes", "Keeps notes.")
	writeFile(t, filepath.Join(root, "notes/scripts/add.sh"), "#!/bin/sh\nprintf '%s\\n' \"$1\" >>notes.txt\ncat notes.txt\n")
	return root
}

// testArguments: what the user said takes every placeholder's place, or comes
// after the instructions that have none.
func (l *langchain) testArguments(t *testing.T) {
	tests := []struct {
		skill     string
		arguments any // nil for none
		want      []string
		not       string
	}{
		{"greet", "Ada", []string{"Greet Ada.\n", "goodbye to Ada, and not to $ARGUMENT."}, "ARGUMENTS"},
		{"greet", "Ada & \"Bob\" <b> $1 \\1 🌊\nof the harbour", []string{"Greet Ada & \"Bob\" <b> $1 \\1 🌊\nof the harbour.\n"}, "ARGUMENTS"},
		{"greet", "$ARGUMENTS", []string{"Greet $ARGUMENTS.\n", "goodbye to $ARGUMENTS,"}, "ARGUMENTS:"},
		{"greet", "", []string{"Greet .\n"}, "ARGUMENTS"},
		{"greet", nil, []string{"Greet .\n"}, "ARGUMENTS"},
		{"plain", "Ada", []string{"Only this.\n\nARGUMENTS: Ada\n"}, "$"},
		{"plain", nil, []string{"Only this.\n"}, "ARGUMENTS"},
	}
	var calls []invocation
	for _, test := range tests {
		input := map[string]any{"name": test.skill}
		if test.arguments != nil {
			input["arguments"] = test.arguments
		}
		calls = append(calls, invocation{Tool: "activate", Input: input})
	}
	for i, result := range l.invoke(t, calls...) {
		_, body, _ := strings.Cut(result.text(), "</skill_runtime>")
		for _, want := range tests[i].want {
			if result.Error != nil || !strings.Contains(body, want) || strings.Contains(body, tests[i].not) {
				t.Errorf("%v lacks %q or has %q: %s", calls[i], want, tests[i].not, body)
			}
		}
	}
}

// testTogetherAndInTurn: invocations at the same time do not mix, and those after
// each other go on where the last one was.
func (l *langchain) testTogetherAndInTurn(t *testing.T) {
	const together = 8
	var calls []invocation
	for i := range together {
		calls = append(calls,
			invocation{"activate", map[string]any{"name": "greet", "arguments": fmt.Sprintf("guest %d", i)}, false},
			invocation{"exec", map[string]any{"name": "notes", "command": fmt.Sprintf("echo run %d", i)}, true})
	}
	results := l.invoke(t, calls...)
	for i := range together {
		if text := results[2*i].text(); !strings.Contains(text, fmt.Sprintf("Greet guest %d.", i)) {
			t.Errorf("%v gives %s", calls[2*i], text)
		}
		if run := results[2*i+1].run(t); run.Stdout != fmt.Sprintf("run %d\n", i) {
			t.Errorf("%v gives %+v", calls[2*i+1], run)
		}
	}
	if l.transport == "stdio" && l.sessions == "each" {
		return // no workspace outlives its server
	}
	checkInTurn(t, l)
}

// checkInTurn goes on in a workspace, which is the session's own or named.
func checkInTurn(t *testing.T, l *langchain) {
	t.Helper()
	input := map[string]any{"name": "notes", "script": "scripts/add.sh"}
	want := ""
	for i := range 3 {
		input["args"] = []string{fmt.Sprintf("note %d", i)}
		run := l.one(t, invocation{"exec", input, true}).run(t)
		if want += fmt.Sprintf("note %d\n", i); run.Stdout != want {
			t.Errorf("run %d sees the notes %q, want %q", i, run.Stdout, want)
		}
		if l.sessions == "each" {
			input["workspace"] = run.Workspace
		}
	}
}

// testErrors: a failure is an error as LangChain has them, with our code:
// JavaScript throws a ToolException, Python gives a tool message with the status
// error.
func (l *langchain) testErrors(t *testing.T) {
	tests := []struct {
		call invocation
		code string
	}{
		{invocation{Tool: "activate", Input: map[string]any{"name": "log-triaje"}}, "skill_not_found: "},
		{invocation{Tool: "readResource", Input: map[string]any{"name": triage, "path": "../../etc/passwd"}}, "invalid_path: "},
		{invocation{Tool: "exec", Input: map[string]any{"name": triage, "command": "id"}}, "permission_denied: "},
		{invocation{Tool: "exec", Input: map[string]any{"name": triage, "script": "scripts/triage.sh", "args": []string{"--top", "many"}}}, "execution_failed: "},
	}
	for _, test := range tests {
		test.call.Message = true
		result := l.invoke(t, test.call)[0]
		switch encoded, _ := json.Marshal(result); {
		case l.language == "node":
			if result.Error == nil || result.Error.Name != "ToolException" || !strings.Contains(result.Error.Message, test.code) {
				t.Errorf("%v: %s", test.call, encoded)
			}
		case result.Status != "error" || !strings.HasPrefix(result.text(), test.code):
			t.Errorf("%v: %s", test.call, encoded)
		}
	}
}
