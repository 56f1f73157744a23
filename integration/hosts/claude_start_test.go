package hosts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// At start the model is given the server's instructions and its tools, whole
// and at once, whatever the catalog holds.
func TestClaudeCodeTellsTheModelOfTheServer(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	require(t, "node")
	many := t.TempDir()
	for i := range 300 {
		writeSkill(t, many, fmt.Sprintf("skill-%03d", i), "Nothing to do.")
	}
	for name, root := range map[string]string{"samples": sampleRoot(t), "300 skills": many} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told := tellsOnStart(t, root)
			_, requests := newClaude(t, newModel(t), root).run(t, "Hello.")
			if text := requests[0].text(); !strings.Contains(text, strings.TrimSpace(told.Instructions)) {
				t.Errorf("the model does not get all instructions:\n%s\nbut\n%s", told.Instructions, text)
			}
			checkLoaded(t, requests[0], told)
		})
	}
}

// checkLoaded holds that the tools are loaded as the server describes them,
// although the host searches for others only when it needs them.
func checkLoaded(t *testing.T, request messagesRequest, told startup) {
	t.Helper()
	if _, searches := request.tool("ToolSearch"); !searches {
		t.Error("tool search is off: that the tools are loaded shows nothing")
	}
	if loaded := names(request.Tools); !slices.Equal(loaded, ourTools) {
		t.Errorf("loaded are %q, want %q", loaded, ourTools)
	}
	for _, tool := range told.Tools {
		loaded, _ := request.tool(serverPrefix + tool.Name)
		if loaded.Description != tool.Description || loaded.DeferLoading {
			t.Errorf("%s is loaded as %+v, the server says %q", tool.Name, loaded, tool.Description)
		}
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(loaded.InputSchema, &schema); err != nil || len(schema.Properties) != len(tool.InputSchema.Properties) {
			t.Errorf("%s is loaded with the schema %s (%v)", tool.Name, loaded.InputSchema, err)
		}
		if strings.Contains(request.text(), "\n"+serverPrefix+tool.Name+"\n") {
			t.Errorf("%s is listed as deferred", tool.Name)
		}
	}
}

// names returns the tools' names without the server's prefix, sorted, of those
// that have it.
func names(tools []toolDefinition) []string {
	var ours []string
	for _, tool := range tools {
		if name, ok := strings.CutPrefix(tool.Name, serverPrefix); ok {
			ours = append(ours, name)
		}
	}
	slices.Sort(ours)
	return ours
}

// startup is what a server tells a client that starts it.
type startup struct {
	Instructions string `json:"instructions"`
	Tools        []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		InputSchema struct {
			Properties map[string]any `json:"properties"`
		} `json:"inputSchema"`
	} `json:"tools"`
}

// tellsOnStart asks a server directly.
func tellsOnStart(t *testing.T, root string) startup {
	t.Helper()
	p := program.Start(t, program.Home(t), program.Binary(t), serverArgs(root)...)
	io.WriteString(p.Stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`+"\n")
	var told startup
	lines := json.NewDecoder(bufio.NewReader(p.Stdout))
	for answered := 0; answered < 2; {
		var line struct {
			ID     int
			Result json.RawMessage
		}
		if err := lines.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.ID == 0 {
			continue
		}
		answered++
		if err := json.Unmarshal(line.Result, &told); err != nil {
			t.Fatal(err)
		}
	}
	go io.Copy(io.Discard, p.Stdout)
	if told.Instructions == "" || len(told.Tools) != len(ourTools) {
		t.Fatalf("the server tells %+v", told)
	}
	return told
}

// Every skill is a slash command; what the user writes after it comes with it.
func TestClaudeCodeExpandsPrompts(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "one more start of a whole agent")
	root := t.TempDir()
	writeSkill(t, root, "greet", "Greet $ARGUMENTS. Then say goodbye to $ARGUMENTS.")
	writeSkill(t, root, "plain", "Only this.")
	tests := []struct {
		prompt string
		want   []string
	}{
		{"/mcp__skills__plain Ada", []string{"Only this.", "ARGUMENTS: Ada"}},
		{"/mcp__skills__plain", []string{"Only this."}},
		// Claude Code splits at spaces and drops what the prompt has no
		// argument for, but shows the model the whole line.
		{"/mcp__skills__greet Ada Lovelace", []string{"Greet Ada. Then say goodbye to Ada.", `<skill_content name="greet">`, "<skill_runtime>",
			"<command-args>Ada Lovelace</command-args>"}},
	}
	for _, test := range tests {
		t.Run(test.prompt, func(t *testing.T) {
			t.Parallel()
			started, requests := newClaude(t, newModel(t), root).run(t, test.prompt)
			for _, skill := range []string{"greet", "plain"} {
				if !slices.Contains(started.SlashCommands, serverPrefix+skill) {
					t.Errorf("there is no command for %s: %q", skill, started.SlashCommands)
				}
			}
			said := requests[0].Messages[0].Content.text()
			for _, want := range test.want {
				if !strings.Contains(said, want) {
					t.Errorf("the user said, without %q:\n%s", want, said)
				}
			}
			if strings.Contains(said, "$ARGUMENTS") {
				t.Errorf("a placeholder is left:\n%s", said)
			}
		})
	}
}
