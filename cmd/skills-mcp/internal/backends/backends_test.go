package backends

import (
	"os"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/config"
)

// TestBackendsAreValues: the configuration takes and documents every backend that
// there is, and no other.
func TestBackendsAreValues(t *testing.T) {
	t.Parallel()
	for _, b := range backends {
		if _, err := config.Load(config.Sources{Flags: []config.Flag{{Name: "--sandbox", Key: "sandbox.backend", Values: []string{b.name}}}}); err != nil {
			t.Error(err)
		}
	}
	page, err := os.ReadFile("../../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `sandbox.backend`") && strings.Count(strings.Split(line, "Value:")[1], "`") < 2*len(backends) {
			t.Errorf("other backends are documented than there are: %s", line)
		}
	}
}
