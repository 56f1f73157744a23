package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// nodeDir holds the MCP clients from npm and the script that drives them.
const nodeDir = "node"

// requirements find out what a tool's tests need. An error says what is
// missing.
var requirements = map[string]func() error{
	"python": func() error {
		_, err := exec.LookPath("python3")
		return err
	},
	"node": func() error {
		if _, err := exec.LookPath("node"); err != nil {
			return err
		}
		for _, client := range []string{"@modelcontextprotocol/sdk", "@modelcontextprotocol/client", "@anthropic-ai/claude-code"} {
			if _, err := os.Stat(filepath.Join(nodeDir, "node_modules", client, "package.json")); err != nil {
				return fmt.Errorf("npm package %s is not installed under integration/%s", client, nodeDir)
			}
		}
		return nil
	},
	"docker": func() error {
		if out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
			return fmt.Errorf("no Docker engine answers: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	},
}

// require skips the test where the named requirement is not met, or fails it
// where SKILLS_MCP_REQUIRE says that it must be.
func require(t *testing.T, name string) {
	t.Helper()
	err := requirements[name]()
	if err == nil {
		return
	}
	if slices.Contains(required(), name) {
		t.Fatalf("SKILLS_MCP_REQUIRE names %s, but: %v (make test-setup installs it)", name, err)
	}
	t.Skipf("needs %s: %v (make test-setup installs it)", name, err)
}

// required returns what SKILLS_MCP_REQUIRE names.
func required() []string {
	list := os.Getenv("SKILLS_MCP_REQUIRE")
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func TestRequiredToolsAreKnownAndThere(t *testing.T) {
	t.Parallel()
	if len(required()) == 0 {
		t.Skip("SKILLS_MCP_REQUIRE names nothing")
	}
	for _, name := range required() {
		met := requirements[name]
		if met == nil {
			t.Errorf("SKILLS_MCP_REQUIRE names %q, which no test knows", name)
			continue
		}
		if err := met(); err != nil {
			t.Errorf("SKILLS_MCP_REQUIRE names %s, but: %v", name, err)
		}
	}
}
