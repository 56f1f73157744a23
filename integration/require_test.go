package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
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
		return program.NodePackages(nodeDir,
			"@modelcontextprotocol/sdk", "@modelcontextprotocol/client", "@anthropic-ai/claude-code")
	},
	"docker": func() error {
		if out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
			return fmt.Errorf("no Docker engine answers: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	},
	"podman": func() error {
		_, err := exec.LookPath("podman")
		return err
	},
	"vm": func() error {
		_, err := os.Stat(filepath.Join("vm", ".image", runtime.GOARCH, "root.made-from"))
		return err
	},
}

// require skips the test where the named requirement is not met, or fails it
// where SKILLS_MCP_REQUIRE says that it must be.
func require(t *testing.T, name string) {
	t.Helper()
	program.Require(t, name, requirements[name]())
}

func TestRequiredToolsAreKnownAndThere(t *testing.T) {
	t.Parallel()
	if len(program.Required()) == 0 {
		t.Skip("SKILLS_MCP_REQUIRE names nothing")
	}
	for _, name := range program.Required() {
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
