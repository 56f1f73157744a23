package hosts

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// adapter is one way in which LangChain speaks to a server.
type adapter struct {
	name      string
	language  string // node or python
	transport string // stdio or http
	// sessions is one, for all calls, or each, for every call its own; then
	// stdio starts a server for every call.
	sessions string
	// again says that what it shows, others show.
	again bool
}

var adapters = []adapter{
	{name: "JavaScript over stdio", language: "node", transport: "stdio", sessions: "one"},
	{name: "JavaScript over HTTP", language: "node", transport: "http", sessions: "one"},
	{name: "Python over stdio", language: "python", transport: "stdio", sessions: "one"},
	{name: "Python over HTTP", language: "python", transport: "http", sessions: "one", again: true},
	{name: "Python over stdio, a server for each call", language: "python", transport: "stdio", sessions: "each"},
	{name: "Python over HTTP, a session for each call", language: "python", transport: "http", sessions: "each"},
}

// langchain is a program that has the server's tools as LangChain tools.
type langchain struct {
	*program.Process
	adapter
	lines  *json.Decoder
	tools  []langchainTool
	lastID int
}

type langchainTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Structured  bool   `json:"structured"` // a StructuredTool
	Schema      struct {
		Properties map[string]any `json:"properties"`
		Required   []string       `json:"required"`
	} `json:"schema"`
}

// invocation is a call of a tool: with Message as an agent makes it, else a
// plain invocation.
type invocation struct {
	Tool    string         `json:"tool"`
	Input   map[string]any `json:"input"`
	Message bool           `json:"message"`
}

// outcome is what LangChain gives for a call.
type outcome struct {
	Content  langchainBlocks `json:"content"`
	Artifact json.RawMessage `json:"artifact"` // with Message only
	Status   string          `json:"status"`   // with Message only: success or error
	Error    *struct {
		Name    string `json:"name"`
		Message string `json:"message"`
	} `json:"error"`
}

// langchainBlocks is a tool's content: a string, a block or a list of blocks.
type langchainBlocks []langchainBlock

type langchainBlock struct {
	Type     string `json:"type"` // text, image, file
	Text     string `json:"text"`
	MIMEType string `json:"mime_type"`
	Base64   string `json:"base64"` // Python's name for it
	Data     string `json:"data"`   // JavaScript's
}

func (b *langchainBlocks) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '"':
		*b = langchainBlocks{{Type: "text"}}
		if err := json.Unmarshal(data, &(*b)[0].Text); err != nil {
			return err
		}
		// JavaScript has a tool message say a text with _meta as the JSON of its block.
		var block langchainBlock
		if json.Unmarshal([]byte((*b)[0].Text), &block) == nil && block.Type == "text" {
			(*b)[0] = block
		}
		return nil
	case '{':
		*b = make(langchainBlocks, 1)
		return json.Unmarshal(data, &(*b)[0])
	}
	return json.Unmarshal(data, (*[]langchainBlock)(b))
}

func (o outcome) text() string {
	var texts []string
	for _, block := range o.Content {
		texts = append(texts, block.Text)
	}
	return strings.Join(texts, "")
}

// start starts LangChain with a server, over the roots given.
func (a adapter) start(t *testing.T, roots ...string) *langchain {
	t.Helper()
	require(t, a.language)
	connection := map[string]any{"transport": a.transport}
	env := program.Home(t)
	if a.transport == "stdio" {
		connection["command"], connection["args"], connection["env"] = program.Binary(t), serverArgs(roots...), program.Environ(env)
	} else {
		connection["url"] = serve(t, env, roots...)
	}
	encoded, err := json.Marshal(connection)
	if err != nil {
		t.Fatal(err)
	}
	command := []string{"node", filepath.Join(nodeDir, "langchain.mjs"), string(encoded)}
	if a.language == "python" {
		command = []string{program.Python(venvDir), filepath.Join(pythonDir, "langchain_client.py"), string(encoded), a.sessions}
	}
	p := program.Start(t, slices.Concat(env, newModel(t).environment()), command[0], command[1:]...)
	l := &langchain{Process: p, adapter: a, lines: json.NewDecoder(p.Stdout)}
	var first struct {
		Tools []langchainTool `json:"tools"`
	}
	l.read(t, &first)
	l.tools = first.Tools
	return l
}

// read decodes the next line that the program prints.
func (l *langchain) read(t *testing.T, into any) {
	t.Helper()
	err := program.Within(t, "a line of "+l.name, func() error { return l.lines.Decode(into) })
	if err != nil {
		t.Fatalf("%s: %v\n%s", l.name, err, l.Stderr)
	}
}

// invoke calls tools at the same time.
func (l *langchain) invoke(t *testing.T, calls ...invocation) []outcome {
	t.Helper()
	l.lastID++
	line, err := json.Marshal(map[string]any{"id": l.lastID, "calls": calls})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Stdin.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		ID       int
		Outcomes []outcome
	}
	l.read(t, &answer)
	if answer.ID != l.lastID || len(answer.Outcomes) != len(calls) {
		t.Fatalf("%d calls give %+v", len(calls), answer)
	}
	return answer.Outcomes
}

// one calls one tool, which must succeed.
func (l *langchain) one(t *testing.T, call invocation) outcome {
	t.Helper()
	result := l.invoke(t, call)[0]
	if result.Error != nil || result.Status == "error" {
		t.Fatalf("%+v: %+v", call, result)
	}
	return result
}

// run is a successful exec's structured content, which LangChain has as the
// tool message's artifact.
func (o outcome) run(t *testing.T) ran {
	t.Helper()
	var python struct {
		Structured *ran `json:"structured_content"`
	}
	if json.Unmarshal(o.Artifact, &python) == nil && python.Structured != nil {
		return *python.Structured
	}
	var javascript []struct {
		Type string `json:"type"`
		Data ran    `json:"data"`
	}
	if err := json.Unmarshal(o.Artifact, &javascript); err == nil {
		for _, artifact := range javascript {
			if artifact.Type == "mcp_structured_content" {
				return artifact.Data
			}
		}
	}
	t.Fatalf("no structured content: %+v", o)
	return ran{}
}

func (i invocation) String() string { return fmt.Sprintf("%s(%v)", i.Tool, i.Input) }
