package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/policy/paths"
	"github.com/skills-mcp/skills-mcp/sandbox/changes"
	"github.com/skills-mcp/skills-mcp/server"
)

// TestRoots: the only root of a client before 2026-07-28 may be the project of
// its session; a client that names several, none, or nothing at all, names none.
func TestRoots(t *testing.T) {
	t.Parallel()
	const (
		roots  = `"roots": {}`
		legacy = `{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {%s}, "clientInfo": {"name": "wire", "version": "1"}}}`
		call   = `{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": {"name": "exec", "arguments": {"name": "report", "command": "cat README.md"}%s}}`
		modern = `, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"}, "io.modelcontextprotocol/clientCapabilities": {"roots": {}}}`
	)
	user := userDir(t)
	result := func(uris ...string) string {
		var list []string
		for _, uri := range uris {
			list = append(list, fmt.Sprintf(`{"uri": %q}`, uri))
		}
		return `"result": {"roots": [` + strings.Join(list, ", ") + `]}`
	}
	mine := "file://" + user + "/project"
	for _, test := range []struct {
		name, able, answers string // nothing where the client is not asked
		root                string
		sees                bool
	}{
		{"one", roots, result(mine), mine, true},
		{"one that is refused", roots, result("file:///"), "file:///", false},
		{"several", roots, result(mine, "file:///srv"), "", false},
		{"none", roots, result(), "", false},
		{"an error", roots, `"error": {"code": -32601, "message": "Method not found"}`, "", false},
		{"no list", roots, `"result": 7`, "", false},
		{"never", roots, "never", "", false},
		{"cannot", "", "", "", false},
		{"modern", "modern", "", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var asked []string
			f := userFixture(t, func(opts *server.Options) {
				var err error
				opts.Shares.Store, err = changes.Open(t.TempDir(), changes.Options{})
				must(t, err)
				opts.Shares.Find = func(_ context.Context, root string) []server.SharedDirectory {
					if asked = append(asked, root); root != mine {
						return nil
					}
					return []server.SharedDirectory{lent(t, user+"/project", server.ShareReview, paths.Rules{})}
				}
			})
			p := f.play(t)
			meta := modern
			if test.able != "modern" {
				meta = ""
				p.step(fmt.Sprintf(legacy, test.able))
				p.step(`{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
			}
			p.step(`{"@send": ` + fmt.Sprintf(call, 2, meta) + `}`)
			if test.answers != "" {
				p.step(`{"@await": "roots/list"}`)
			}
			if test.answers == "never" { // others are served meanwhile
				p.step(`{"jsonrpc": "2.0", "id": 9, "method": "ping"}`)
			} else if test.answers != "" {
				p.step(`{"@send": {"jsonrpc": "2.0", "id": 1, ` + test.answers + `}}`)
			}
			p.step(`{"@answer": 2}`)
			p.step(fmt.Sprintf(call, 3, meta)) // the client is asked once
			p.end()
			if len(asked) != 1 || asked[0] != test.root {
				t.Errorf("looked for are %q, want %q", asked, test.root)
			}
			if sees := strings.Count(p.seen.String(), `"stdout": "A project.\n"`); (sees == 2) != test.sees {
				t.Errorf("programs see the project %d times:\n%s", sees, p.seen.String())
			}
		})
	}
}
