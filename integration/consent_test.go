package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// asking are the libraries whose clients answer questions here.
var asking = []string{"TypeScript SDK v1", "TypeScript SDK v2", "Python SDK v2"}

// TestConsent: clients that others wrote show the server's question, and give it
// the user's answer, in both eras of the protocol.
func TestConsent(t *testing.T) {
	forEach(t, clientsOf(asking), func(t *testing.T, c client) {
		root := t.TempDir()
		writeSkill(t, root, "open", "Anything may be run.")
		config := filepath.Join(root, "config.yaml")
		if err := os.WriteFile(config, []byte("approval: {runs: ask}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		p := connectAnswering(t, c, []string{"Decline", "Allow once"}, "--config", config, root)
		for _, want := range []string{"Not done", "ran\n"} {
			result := p.tool(t, "exec", map[string]any{"name": "open", "command": "echo ran"})
			if text := result.Content[0].Text; !strings.Contains(text, want) || result.IsError {
				t.Errorf("instead of %q came %s", want, text)
			}
		}
	})
}

// TestConsentToHosts: a program gets to a host that its skill is not granted when
// the user of a client that others wrote allows it: while it waits, or before it is
// run again; and not any more when the user takes that back.
func TestConsentToHosts(t *testing.T) {
	testenv.Slow(t, "asks in each way that clients have")
	forEach(t, clientsOf([]string{"TypeScript SDK v2"}), func(t *testing.T, c client) {
		n := newInternet(t)
		n.home = append(n.home, "SKILLS_MCP_APPROVAL_NETWORK=ask")
		const host, always = "http://pages.test-service.net", "Always allow for this version of the skill"
		p := connectIn(t, n.home, c, []string{"Allow once", always, "Decline"}, "--sandbox=local", grantedSamples)
		fetch := func() (told usedGrants) {
			t.Helper()
			for range 2 {
				result := p.tool(t, "exec", map[string]any{"name": "page-fetch", "script": "scripts/fetch.py", "args": []string{host}})
				told = usedGrants{}
				if err := json.Unmarshal(result.StructuredContent, &told); err != nil {
					t.Fatalf("%v: %s", err, result.text())
				}
				if told.Sandbox.Tier != "full" {
					t.Skipf("the local sandbox holds no hosts here: its tier is %s", told.Sandbox.Tier)
				}
				if len(told.Asked) != 1 || told.Asked[0].Host != host {
					t.Fatalf("nobody is asked: %s", result.text())
				}
				if told.Asked[0].Answer != "later" {
					break
				}
				if len(n.requests()) > 0 {
					t.Error("the host is reached before the answer")
				}
			}
			return told
		}
		for _, scope := range []string{"once", "always", "always"} {
			if told := fetch(); told.Asked[0].Scope != scope || told.Stdout != host+": Page of pages.test-service.net\n" || len(n.requests()) != 1 {
				t.Errorf("allowed %s: %+v", scope, told)
			}
		}
		if listed, _ := n.run("grants"); !strings.Contains(listed, "Reach "+host+" from a program of the skill page-fetch") {
			t.Errorf("the answer is not listed: %s", listed)
		}
		if revoked, _ := n.run("revoke", "page-fetch", "--host", host); !strings.Contains(revoked, "Reach "+host) {
			t.Errorf("the answer is not revoked: %s", revoked)
		}
		if told := fetch(); told.Asked[0].Answer != "declined" || len(told.Used.Hosts) != 1 || told.Used.Hosts[0].Reason != "denied" || len(n.requests()) > 0 {
			t.Errorf("declined: %+v", told)
		}
	})
}
