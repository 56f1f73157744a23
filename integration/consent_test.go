package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
