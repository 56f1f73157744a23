package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/internal/audit"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// recorded returns what the audit log has, the oldest first.
func (f *fixture) recorded(t *testing.T) (records []audit.Record) {
	t.Helper()
	reader, err := audit.NewReader(f.auditDir)
	must(t, err)
	defer reader.Close()
	for record, err := range reader.Records() {
		must(t, err)
		records = append(records, record)
	}
	if reader.Broken > 0 {
		t.Errorf("%d lines are broken", reader.Broken)
	}
	return records
}

// auditFixture serves a skill that may do little, and one that may do anything.
func auditFixture(t *testing.T, options ...string) *fixture {
	t.Helper()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: May do anything.\n---\nBody.\n"))
	writeFile(t, filepath.Join(root, "free", "scripts", "make.sh"), []byte("cat > made.txt; exit $1\n"))
	writeFile(t, filepath.Join(root, "bound", "SKILL.md"), []byte("---\nname: bound\ndescription: May read little.\nallowed-tools: Read(references/*)\n---\nBody.\n"))
	writeFile(t, filepath.Join(root, "bound", "references", "a.md"), []byte("a"))
	return newFixture(t, root, append(options, "audit")...)
}

// line is what a test compares of a record.
type line struct {
	Event, Method, Tool, Skill, Input, Decision, Rule, Outcome, Error, Status string
}

func lineOf(r audit.Record) line {
	return line{string(r.Event), r.Method, r.Tool, r.Skill, string(r.Input), r.Decision, r.Rule, string(r.Outcome), r.Error, r.Status}
}

// Every call of a tool and every reading of a skill is one line, whatever came of
// it.
func TestAuditRecordsWhatIsAsked(t *testing.T) {
	t.Parallel()
	f := auditFixture(t, "toolset=workspace")
	c := f.connect(t)
	const call, read = "tools/call", "read"
	tests := []struct {
		method string
		params map[string]any
		want   line
	}{
		{call, map[string]any{"name": "activate", "arguments": map[string]any{"name": "free", "arguments": "token=hunter2"}},
			line{Tool: "activate", Skill: "free", Input: `{"arguments":"token=[redacted]","name":"free"}`, Outcome: "ok"}},
		{call, map[string]any{"name": "exec", "arguments": map[string]any{"name": "free", "script": "scripts/make.sh", "args": []string{"0"}, "stdin": "in"}},
			line{Tool: "exec", Skill: "free", Input: `{"args":["0"],"name":"free","script":"scripts/make.sh","stdin":{"bytes":2}}`, Decision: "allow", Rule: "allowed-tools: default", Outcome: "ok", Status: "exited"}},
		{call, map[string]any{"name": "exec", "arguments": map[string]any{"name": "free", "script": "scripts/make.sh", "args": []string{"3"}}},
			line{Tool: "exec", Skill: "free", Input: `{"args":["3"],"name":"free","script":"scripts/make.sh"}`, Decision: "allow", Rule: "allowed-tools: default", Outcome: "failed", Error: "execution_failed", Status: "exited"}},
		{call, map[string]any{"name": "exec", "arguments": map[string]any{"name": "bound", "command": "rm -rf /"}},
			line{Tool: "exec", Skill: "bound", Input: `{"command":"rm -rf /","name":"bound"}`, Decision: "deny", Rule: "allowed-tools: not listed", Outcome: "denied", Error: "permission_denied"}},
		{call, map[string]any{"name": "exec", "arguments": map[string]any{"name": "none", "command": "true"}},
			line{Tool: "exec", Input: `{"command":"true","name":"none"}`, Outcome: "failed", Error: "skill_not_found"}},
		{call, map[string]any{"name": "exec", "arguments": map[string]any{"nome": 1}},
			line{Tool: "exec", Input: `{"nome":1}`, Outcome: "failed", Error: "invalid_arguments"}},
		{call, map[string]any{"name": "readResource", "arguments": map[string]any{"name": "bound", "path": "references/a.md"}},
			line{Tool: "readResource", Skill: "bound", Input: `{"name":"bound","path":"references/a.md"}`, Decision: "allow", Rule: "allowed-tools: Read(references/*)", Outcome: "ok"}},
		{call, map[string]any{"name": "findSkills", "arguments": map[string]any{}},
			line{Tool: "findSkills", Input: `{}`, Outcome: "ok"}},
		{call, map[string]any{"name": "create_file", "arguments": map[string]any{"path": "a", "file_text": strings.Repeat("x", 100)}},
			line{Tool: "create_file", Input: `{"file_text":{"bytes":100,"sha256":"09ecb6ebc8bcefc7"},"path":"a"}`, Decision: "allow", Rule: "allowed-tools: default", Outcome: "ok"}},
		{"resources/read", map[string]any{"uri": "skill://bound/SKILL.md"},
			line{Event: read, Skill: "bound", Input: `{"uri":"skill://bound/SKILL.md"}`, Outcome: "ok"}},
		{"resources/read", map[string]any{"uri": "skill://bound/secret.md"},
			line{Event: read, Skill: "bound", Input: `{"uri":"skill://bound/secret.md"}`, Decision: "deny", Rule: "allowed-tools: not listed", Outcome: "denied", Error: "permission_denied"}},
		{"skills/get", map[string]any{"uri": "skill://free/SKILL.md"},
			line{Event: read, Skill: "free", Input: `{"uri":"skill://free/SKILL.md"}`, Outcome: "ok"}},
		{"skills/get", map[string]any{"uri": []int{}},
			line{Event: read, Input: `{"uri":[]}`, Outcome: "failed", Error: "invalid_arguments"}},
		{"skills/list", map[string]any{}, line{Event: read, Input: `{}`, Outcome: "ok"}},
		{"resources/directory/read", map[string]any{"uri": "skill://free"},
			line{Event: read, Skill: "free", Input: `{"uri":"skill://free"}`, Outcome: "ok"}},
		{"prompts/get", map[string]any{"name": "free", "arguments": map[string]string{"arguments": "now"}},
			line{Event: read, Skill: "free", Input: `{"arguments":"now","name":"free"}`, Outcome: "ok"}},
	}
	for _, test := range tests {
		c.ask(t, test.method, test.params)
	}
	records := f.recorded(t)
	if len(records) != len(tests) {
		t.Fatalf("%d records of %d requests", len(records), len(tests))
	}
	for i, test := range tests {
		test.want.Method = test.method
		if test.want.Event == "" {
			test.want.Event = "call"
		}
		if diff := cmp.Diff(test.want, lineOf(records[i])); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", test.method, test.params, diff)
		}
		if records[i].Session != "stdio" || records[i].DurationMs <= 0 {
			t.Errorf("%s: %+v", test.method, records[i])
		}
	}
	run := records[1]
	if run.ExitCode == nil || *run.ExitCode != 0 || !strings.HasPrefix(run.Digest, "sha256:") || run.Backend == "" || run.Tier == "" {
		t.Errorf("the run is recorded as %+v", run)
	}
	if len(run.Artifacts) != 1 || run.Artifacts[0].Path != "made.txt" || run.Artifacts[0].Size != 2 || len(run.Artifacts[0].Digest) < 64 {
		t.Errorf("its artifacts are %+v", run.Artifacts)
	}
	if len(run.Workspace) != len("ws-01234567…") {
		t.Errorf("whoever reads the log has the workspace %q", run.Workspace)
	}
}

// The caller of a line is the address of an HTTP client, and nobody gets into
// a session by reading its name.
func TestAuditNamesHTTPClients(t *testing.T) {
	t.Parallel()
	f := auditFixture(t)
	url := f.serveHTTP(t)
	session := legacy(t, url)
	ask := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "findSkills", "arguments": map[string]any{}}}
	response, body := post(t, url+"/mcp", ask, session...)
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", response.Status, body)
	}
	records := f.recorded(t)
	if len(records) != 1 || records[0].Caller != "127.0.0.1" || len(records[0].Session) != 12 || slices.Contains(session, records[0].Session) {
		t.Errorf("recorded: %+v", records)
	}
}

// A call in-process is recorded as well.
func TestAuditRecordsCommands(t *testing.T) {
	t.Parallel()
	f := auditFixture(t)
	if _, err := f.server.Call(t.Context(), "findSkills", json.RawMessage(`{}`)); err != nil {
		t.Fatal(err)
	}
	if records := f.recorded(t); len(records) != 1 || records[0].Caller != "cli" || records[0].Session != "" {
		t.Errorf("recorded: %+v", records)
	}
}

// beforeRun is a backend that does something before each run.
type beforeRun struct {
	sandbox.Backend
	before func()
}

func (b beforeRun) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	b.before()
	return b.Backend.Run(ctx, spec)
}

// While a program runs, the log has its beginning; where its end cannot be
// recorded, the result is withheld and says so.
func TestAuditOfARunIsBegunFirst(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, filepath.Join(root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: May do anything.\n---\n"))
	var once sync.Once
	var f *fixture
	var before []audit.Record
	f = newFixtureWith(t, root, func(plain sandbox.Backend) sandbox.Backend {
		return beforeRun{plain, func() {
			once.Do(func() {
				before = f.recorded(t)
				f.loseAudit(t)
			})
		}}
	}, "audit")
	c := f.connect(t)
	a := c.call(t, "exec", map[string]any{"name": "free", "command": "echo secret output"})
	if len(before) != 1 || before[0].Outcome != audit.Unfinished || before[0].Skill != "free" || before[0].Tool != "exec" {
		t.Errorf("while it runs the log has %+v", before)
	}
	if a.code() != "audit_failed" || !strings.Contains(a.text(), "it was carried out (ok), but its result is withheld") || strings.Contains(a.text(), "secret output") || a.Structured != nil {
		t.Errorf("answered: %s %s", a.text(), a.Structured)
	}
	if strings.Contains(a.text(), f.auditDir) {
		t.Errorf("the answer names a path of the host: %s", a.text())
	}
	// As soon as the log can be written again, all is as before.
	must(t, os.Remove(f.auditDir))
	if run := c.exec(t, "free", map[string]any{"command": "true"}); run.exit() != 0 {
		t.Errorf("afterwards: %+v", run)
	}
	if records := f.recorded(t); len(records) != 1 || records[0].Outcome != audit.OK {
		t.Errorf("afterwards the log has %+v", records)
	}
}

// A question, its answer and the call that it is about are lines of their own.
func TestAuditRecordsAnswers(t *testing.T) {
	t.Parallel()
	f := auditFixture(t, "approval.runs=ask")
	p := f.play(t)
	ask := func(id int, answer string) {
		params := map[string]any{
			"name": "exec", "arguments": map[string]any{"name": "free", "script": "scripts/make.sh", "args": []string{"0"}},
			"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"},
				"io.modelcontextprotocol/clientCapabilities": map[string]any{"elicitation": map[string]any{}}},
		}
		if answer != "" {
			params["requestState"] = "STATE"
			params["inputResponses"] = map[string]any{"consent": json.RawMessage(answer)}
		}
		line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
		must(t, err)
		p.step(string(line))
	}
	ask(1, "")
	ask(2, `{"action": "decline"}`)
	ask(3, "")
	ask(4, `{"action": "accept", "content": {"answer": "Allow once"}}`)
	ask(5, `{"action": "accept", "content": {"answer": "Allow once"}}`)
	p.end()
	type said struct{ Event, Skill, Decision, Rule, Answer, Outcome, Error, Status string }
	var got []said
	for _, r := range f.recorded(t) {
		got = append(got, said{string(r.Event), r.Skill, r.Decision, r.Rule, r.Answer, string(r.Outcome), r.Error, r.Status})
		if r.Event == audit.Answer && (!strings.HasPrefix(r.Digest, "sha256:") || !strings.Contains(string(r.Input), `"kind":"run"`)) {
			t.Errorf("the answer is recorded as %+v", r)
		}
	}
	const rule = "approval.runs: ask"
	want := []said{
		{"call", "free", "ask", rule, "", "asked", "", ""},
		{"answer", "free", "ask", rule, "declined", "denied", "", ""},
		{"call", "free", "ask", rule, "declined", "denied", "", ""},
		{"call", "free", "ask", rule, "", "asked", "", ""},
		{"answer", "free", "ask", rule, "once", "ok", "", ""},
		{"call", "free", "ask", rule, "once", "ok", "", "exited"},
		{"call", "", "", "", "", "failed", "consent_used", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
}

// What recording adds to a call that is cheap, and to a run.
func BenchmarkAudit(b *testing.B) {
	root := b.TempDir()
	must(b, os.MkdirAll(filepath.Join(root, "free"), 0o755))
	must(b, os.WriteFile(filepath.Join(root, "free", "SKILL.md"), []byte("---\nname: free\ndescription: May do anything.\n---\nBody.\n"), 0o644))
	for _, call := range []struct{ tool, arguments string }{
		{"readResource", `{"name": "free", "path": "SKILL.md"}`},
		{"exec", `{"name": "free", "command": "true"}`},
	} {
		for name, options := range map[string][]string{"without": nil, "recorded": {"audit"}} {
			b.Run(call.tool+"/"+name, func(b *testing.B) {
				f := newFixture(b, root, options...)
				for b.Loop() {
					if called, err := f.server.Call(b.Context(), call.tool, json.RawMessage(call.arguments)); err != nil || called.IsError {
						b.Fatal(err, called.Text)
					}
				}
			})
		}
	}
}
