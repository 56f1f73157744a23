package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skills-mcp/skills-mcp/testdata"
)

// showsCards are the capabilities of a host that shows cards.
var showsCards = map[string]any{"extensions": map[string]any{
	"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{"text/html;profile=mcp-app"}},
}}

// cardHost asks a server as one that said what it can. It returns the fields of the
// whole answer.
type cardHost func(method string, params map[string]any) map[string]any

// cardHosts are the ways to be one: both eras of the protocol, on each kind of
// transport.
var cardHosts = map[string]func(t *testing.T, f *fixture, capabilities map[string]any) cardHost{
	"stdio, handshake": func(t *testing.T, f *fixture, capabilities map[string]any) cardHost {
		c := f.connect(t)
		greeted := c.ask(t, "initialize", handshake(capabilities))
		return func(method string, params map[string]any) map[string]any {
			if method == "initialize" {
				return fields(t, greeted.Result, greeted.Error)
			}
			r := c.ask(t, method, params)
			return fields(t, r.Result, r.Error)
		}
	},
	"stdio, stateless": func(t *testing.T, f *fixture, capabilities map[string]any) cardHost {
		c := f.connect(t) // whose handshake says nothing of cards
		return func(method string, params map[string]any) map[string]any {
			method, params = stateless(method, params, capabilities)
			r := c.ask(t, method, params)
			return fields(t, r.Result, r.Error)
		}
	},
	"HTTP, handshake": func(t *testing.T, f *fixture, capabilities map[string]any) cardHost {
		url := f.serveHTTP(t) + "/mcp"
		greeted, hello := post(t, url, rpc(1, "initialize", handshake(capabilities)))
		headers := []string{"Mcp-Session-Id", greeted.Header.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-11-25"}
		post(t, url, map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}, headers...)
		return func(method string, params map[string]any) map[string]any {
			if method == "initialize" {
				return httpFields(t, hello)
			}
			_, body := post(t, url, rpc(2, method, params), headers...)
			return httpFields(t, body)
		}
	},
	"HTTP, stateless": func(t *testing.T, f *fixture, capabilities map[string]any) cardHost {
		url := f.serveHTTP(t) + "/mcp"
		return func(method string, params map[string]any) map[string]any {
			name, _ := params["name"].(string)
			if uri, ok := params["uri"].(string); ok {
				name = uri
			}
			method, params = stateless(method, params, capabilities)
			_, body := post(t, url, rpc(2, method, params), modernHeaders(method, name)...)
			return httpFields(t, body)
		}
	},
}

func handshake(capabilities map[string]any) map[string]any {
	return map[string]any{"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": map[string]any{"name": "host", "version": "1"}}
}

// stateless is a request of 2026-07-28, which has another one for the handshake.
func stateless(method string, params, capabilities map[string]any) (string, map[string]any) {
	if method == "initialize" {
		method = "server/discover"
	}
	whole := maps.Clone(params)
	if whole == nil {
		whole = map[string]any{}
	}
	whole["_meta"] = map[string]any{
		"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": capabilities,
		"io.modelcontextprotocol/clientInfo": map[string]any{"name": "host", "version": "1"},
	}
	return method, whole
}

func httpFields(t *testing.T, body []byte) map[string]any {
	t.Helper()
	_, message, isEvent := bytes.Cut(body, []byte("data: "))
	if !isEvent {
		message = body
	}
	var r reply
	must(t, json.Unmarshal(message, &r))
	return fields(t, r.Result, r.Error)
}

// fields are those of a result, or those of an error.
func fields(t *testing.T, result json.RawMessage, fault *rpcFault) map[string]any {
	t.Helper()
	if fault != nil {
		return map[string]any{"error": fault.Message}
	}
	var all map[string]any
	must(t, json.Unmarshal(result, &all))
	return all
}

// said is all that a server says that may be another where the host shows cards.
func said(ask cardHost) map[string]map[string]any {
	read := func(uri string) map[string]any { return ask("resources/read", map[string]any{"uri": uri}) }
	all := map[string]map[string]any{
		"initialize":     ask("initialize", nil),
		"tools/list":     ask("tools/list", nil),
		"resources/list": ask("resources/list", nil),
		"call":           ask("tools/call", map[string]any{"name": "activate", "arguments": map[string]any{"name": "csv-profile"}}),
		"another":        read("ui://skills-mcp/other"),
	}
	for _, card := range []string{"activate", "read", "run", "changes"} {
		all[card] = read("ui://skills-mcp/" + card)
	}
	return all
}

// TestCards: a host that says that it shows cards has them on its list, reads them
// and knows which are whose; to every other one nothing is different.
func TestCards(t *testing.T) {
	t.Parallel()
	others := map[string]map[string]any{
		"another extension": {"extensions": map[string]any{"io.modelcontextprotocol/skills": map[string]any{}}},
		"another type":      {"extensions": map[string]any{"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []any{"text/html", 7}}}},
		"no types":          {"extensions": map[string]any{"io.modelcontextprotocol/ui": map[string]any{}}},
		"not a list":        {"extensions": map[string]any{"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": "text/html;profile=mcp-app"}}},
	}
	for name, connect := range cardHosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			connect := func(capabilities map[string]any) cardHost {
				return connect(t, newFixture(t, testdata.Valid(), "toolset=workspace", "sandbox=off"), capabilities) // stdio has one client
			}
			plain := said(connect(map[string]any{}))
			for what, capabilities := range others {
				if diff := cmp.Diff(plain, said(connect(capabilities))); diff != "" {
					t.Errorf("%s changes (-want +got):\n%s", what, diff)
				}
			}
			for _, card := range []string{"activate", "read", "run", "changes"} {
				if plain[card]["error"] == nil {
					t.Errorf("who shows no cards reads %s: %v", card, plain[card])
				}
			}
			shown := said(connect(showsCards))
			checkCards(t, shown)
			checkMarks(t, shown["tools/list"])
			removeCards(shown)
			for _, card := range []string{"activate", "read", "run", "changes"} {
				delete(plain, card)
			}
			if diff := cmp.Diff(plain, shown); diff != "" {
				t.Errorf("cards change more than what they add (-without +with):\n%s", diff)
			}
		})
	}
}

// checkCards: the cards are on the list and can be read, with a closed policy in
// both places.
func checkCards(t *testing.T, shown map[string]map[string]any) {
	t.Helper()
	listed := map[string]any{}
	for _, resource := range shown["resources/list"]["resources"].([]any) {
		listed[resource.(map[string]any)["uri"].(string)] = resource.(map[string]any)["_meta"]
	}
	for _, name := range []string{"activate", "read", "run", "changes"} {
		uri := "ui://skills-mcp/" + name
		parts, _ := shown[name]["contents"].([]any)
		if len(parts) != 1 {
			t.Fatalf("%s has the contents %v", uri, shown[name])
		}
		card := parts[0].(map[string]any)
		if card["uri"] != uri || card["mimeType"] != "text/html;profile=mcp-app" || !strings.HasPrefix(card["text"].(string), "<!DOCTYPE html>") {
			t.Errorf("%s is %v", uri, card)
		}
		closed := map[string]any{"ui": map[string]any{
			"csp": map[string]any{
				"connectDomains": []any{}, "resourceDomains": []any{}, "frameDomains": []any{}, "baseUriDomains": []any{},
			},
			"permissions": map[string]any{}, "prefersBorder": true,
		}}
		for where, meta := range map[string]any{"list": listed[uri], "contents": card["_meta"]} {
			if diff := cmp.Diff(any(closed), meta); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", where, uri, diff)
			}
		}
		delete(shown, name)
	}
	if extensions := shown["initialize"]["capabilities"].(map[string]any)["extensions"].(map[string]any); extensions["io.modelcontextprotocol/ui"] == nil {
		t.Errorf("the server says it has the extensions %v", extensions)
	}
}

// checkMarks: each tool whose results a card is for names it, and no card may call
// a tool.
func checkMarks(t *testing.T, list map[string]any) {
	t.Helper()
	marked := map[string]string{}
	for _, raw := range list["tools"].([]any) {
		tool := raw.(map[string]any)
		ui, ok := tool["_meta"].(map[string]any)["ui"].(map[string]any)
		if !ok {
			continue
		}
		marked[tool["name"].(string)] = ui["resourceUri"].(string)
		if visible := ui["visibility"].([]any); !slices.Equal(visible, []any{"model"}) {
			t.Errorf("%s is for %v", tool["name"], visible)
		}
	}
	want := map[string]string{
		"activate": "ui://skills-mcp/activate", "readResource": "ui://skills-mcp/read", "view": "ui://skills-mcp/read",
		"exec": "ui://skills-mcp/run", "bash_tool": "ui://skills-mcp/run",
		"applyChanges": "ui://skills-mcp/changes", "create_file": "ui://skills-mcp/changes", "str_replace": "ui://skills-mcp/changes",
	}
	if diff := cmp.Diff(want, marked); diff != "" {
		t.Errorf("tools are marked (-want +got):\n%s", diff)
	}
}

// removeCards takes out of what a server said what is there for cards alone.
func removeCards(shown map[string]map[string]any) {
	delete(shown["initialize"]["capabilities"].(map[string]any)["extensions"].(map[string]any), "io.modelcontextprotocol/ui")
	resources := shown["resources/list"]["resources"].([]any)
	shown["resources/list"]["resources"] = slices.DeleteFunc(resources, func(resource any) bool {
		return strings.HasPrefix(resource.(map[string]any)["uri"].(string), "ui://")
	})
	for _, tool := range shown["tools/list"]["tools"].([]any) {
		delete(tool.(map[string]any)["_meta"].(map[string]any), "ui")
	}
	delete(shown["call"]["_meta"].(map[string]any), "card")
}

// A page after the first has no cards, and neither has a client's list of the
// templates by which it may guess others.
func TestCardsAreNotTemplates(t *testing.T) {
	t.Parallel()
	ask := cardHosts["stdio, stateless"](t, newFixture(t, testdata.Valid()), showsCards)
	for _, answer := range []map[string]any{ask("resources/templates/list", nil), ask("resources/list", map[string]any{"cursor": "emV0YQ=="})} {
		encoded, err := json.Marshal(answer)
		must(t, err)
		if strings.Contains(string(encoded), "ui://") || answer["error"] != nil {
			t.Errorf("has cards: %s", encoded)
		}
	}
}

// What a card shows of an activation is in _meta, as bounded as the text.
func TestActivationForCards(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	writeFile(t, root+"/big/SKILL.md", []byte("---\nname: big\ndescription: Has many files.\nallowed-tools: Read\n---\nRead.\n"))
	for n := range 250 {
		writeFile(t, fmt.Sprintf("%s/big/files/%d.txt", root, n), []byte("x"))
	}
	ask := cardHosts["stdio, stateless"](t, newFixture(t, root), showsCards)
	answer := ask("tools/call", map[string]any{"name": "activate", "arguments": map[string]any{"name": "big"}})
	card := answer["_meta"].(map[string]any)["card"].(map[string]any)
	if files := card["files"].([]any); len(files) != 200 || card["filesOmitted"] != true {
		t.Errorf("%d files are named, and omitted is %v", len(files), card["filesOmitted"])
	}
	if card["baseDirectory"] != "$SKILL_DIR" || card["sandbox"] != "unsafe-host, tier none" || card["unavailable"] != nil {
		t.Errorf("the card has %v", card)
	}
}
