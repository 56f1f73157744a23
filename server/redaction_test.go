package server_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/redact"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/server"
)

const secretValue = `sk-live-"4f9a/8b7c\6d5e<&>`

// leaks returns the forms of a value that a text holds.
func leaks(text, value string) (found []string) {
	quoted, _ := json.Marshal(value)
	once := string(quoted[1 : len(quoted)-1])
	again, _ := json.Marshal(once)
	forms := []string{value, once, string(again[1 : len(again)-1]), hex.EncodeToString([]byte(value)), url.QueryEscape(value), url.PathEscape(value)}
	for offset := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte("\x00\x00"[:min(2, offset)] + value))
		forms = append(forms, encoded[4:len(encoded)-4])
	}
	for _, form := range forms {
		if strings.Contains(text, form) {
			found = append(found, form)
		}
	}
	return found
}

// redactedFixture serves a skill of which everything holds a secret.
func redactedFixture(t *testing.T) *fixture {
	t.Helper()
	quoted, err := json.Marshal(secretValue)
	must(t, err)
	root := testfiles.Dir(t, map[string]string{
		"leaky/SKILL.md":    "---\nname: leaky\ndescription: " + string(quoted) + "\nmetadata: {" + string(quoted) + ": x}\n---\nUse " + secretValue + ".\n",
		"leaky/data.json":   `{"key":` + string(quoted) + "}",
		"leaky/blob.bin":    "\x00\x01" + secretValue + "\xff\xfe",
		"leaky/encoded.txt": base64.StdEncoding.EncodeToString([]byte("x" + secretValue)),
		"leaky/print.sh":    `printf '%s\n' "$1"; printf '%s' "$1" | base64 >&2; printf '%s' "$1" > "made.txt"; exit 3` + "\n",
	})
	set := &redact.Set{}
	set.Add("API_TOKEN", secretValue)
	return newFixtureOf(t, root, func(opts *server.Options) { opts.Redact = set })
}

var leakyRequests = []struct {
	method string
	params map[string]any
}{
	{"tools/call", map[string]any{"name": "activate", "arguments": map[string]any{"name": "leaky", "arguments": secretValue}}},
	{"tools/call", map[string]any{"name": "findSkills", "arguments": map[string]any{"query": secretValue}}},
	{"tools/call", map[string]any{"name": "readResource", "arguments": map[string]any{"name": "leaky", "path": "data.json"}}},
	{"tools/call", map[string]any{"name": "readResource", "arguments": map[string]any{"name": "leaky", "path": "blob.bin"}}},
	{"tools/call", map[string]any{"name": "readResource", "arguments": map[string]any{"name": "leaky", "path": secretValue}}},
	{"tools/call", map[string]any{"name": "exec", "arguments": map[string]any{"name": "leaky", "script": "print.sh", "args": []string{secretValue}}}},
	{"tools/call", map[string]any{"name": secretValue, "arguments": map[string]any{}}},
	{"resources/read", map[string]any{"uri": "skill://leaky/blob.bin"}},
	{"resources/read", map[string]any{"uri": "skill://leaky/encoded.txt"}},
	{"resources/read", map[string]any{"uri": "skill://leaky/" + url.PathEscape(secretValue)}},
	{"prompts/get", map[string]any{"name": "leaky", "arguments": map[string]any{"arguments": secretValue}}},
	{"prompts/list", map[string]any{}},
	{"resources/list", map[string]any{}},
	{"skills/list", map[string]any{}},
	{"skills/get", map[string]any{"uri": "skill://leaky"}},
}

// checkRedacted shows that a message is one, holds the secret's name in the place of its
// value, and the value in no form.
func checkRedacted(t *testing.T, what string, message []byte, marked bool) {
	t.Helper()
	if !json.Valid(message) {
		t.Errorf("%s gives no JSON: %s", what, message)
	}
	if found := leaks(string(message), secretValue); len(found) > 0 {
		t.Errorf("%s gives %q: %s", what, found, message)
	}
	if marked && !strings.Contains(string(message), "[secret API_TOKEN]") {
		t.Errorf("%s gives no trace of the secret: %s", what, message)
	}
}

func TestNoTransportWritesASecret(t *testing.T) {
	t.Parallel()
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		c := redactedFixture(t).connect(t)
		for _, request := range leakyRequests {
			c.ask(t, request.method, request.params)
		}
		for line := range strings.Lines(c.transcript()) {
			checkRedacted(t, "stdio", []byte(line), false)
		}
		if marks := strings.Count(c.transcript(), "[secret API_TOKEN]"); marks < len(leakyRequests) {
			t.Errorf("the secret's name is there %d times", marks)
		}
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		address := redactedFixture(t).serveHTTP(t)
		headers := legacy(t, address)
		for i, request := range leakyRequests {
			_, answer := post(t, address+"/mcp", rpc(i+2, request.method, request.params), headers...)
			for line := range strings.Lines(string(answer)) {
				if data, isData := strings.CutPrefix(line, "data: "); isData || strings.HasPrefix(line, "{") {
					checkRedacted(t, request.method, []byte(data), false)
				}
			}
			if found := leaks(string(answer), secretValue); len(found) > 0 {
				t.Errorf("%s gives %q", request.method, found)
			}
		}
		if _, answer := post(t, address+"/"+url.PathEscape(secretValue), rpc(1, "ping", nil)); len(leaks(string(answer), secretValue)) > 0 {
			t.Errorf("%s", answer)
		}
	})
	t.Run("sse", func(t *testing.T) {
		t.Parallel()
		c := dialSSE(t, redactedFixture(t).serveHTTP(t))
		for _, request := range leakyRequests {
			checkRedacted(t, request.method, c.ask(t, request.method, request.params), false)
		}
	})
	t.Run("in-process", func(t *testing.T) {
		t.Parallel()
		arguments, err := json.Marshal(map[string]any{"name": "leaky", "script": "print.sh", "args": []string{secretValue}})
		must(t, err)
		called, err := redactedFixture(t).server.Call(t.Context(), "exec", arguments)
		must(t, err)
		checkRedacted(t, "call", called.Structured, true)
		if found := leaks(called.Text, secretValue); len(found) > 0 || !strings.Contains(called.Text, "[secret API_TOKEN]") {
			t.Errorf("%q: %s", found, called.Text)
		}
	})
}
