package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

const (
	// nodeDir holds the MCP clients from npm and the script that drives them.
	nodeDir = "node"
	// bridgeScript is mcp-remote, which has a server over HTTP look like one
	// over stdio.
	bridgeScript = nodeDir + "/node_modules/mcp-remote/dist/proxy.js"
	// pythonDir holds the script that drives the clients for Python. Those of
	// the SDK's first line are where LangChain has them.
	pythonDir       = "python"
	pythonVenv      = ".venv"
	firstPythonVenv = "hosts/.venv"
	// officeImage is what 'skills-mcp image build --office' builds for tests.
	officeImage = "skills-mcp/office:latest"
	// goDir is the module of the Go SDK's client.
	goDir = "gosdk"
)

// requirements find out what a tool's tests need. An error says what is
// missing.
var requirements = map[string]func() error{
	"bash": func() error {
		_, err := exec.LookPath("bash")
		return err
	},
	"python": sync.OnceValue(func() error {
		return errors.Join(
			program.PythonPackages(pythonVenv, "fastmcp", "mcp"),
			program.PythonPackages(firstPythonVenv, "mcp"))
	}),
	"node": func() error {
		return program.NodePackages(nodeDir,
			"@modelcontextprotocol/sdk", "@modelcontextprotocol/client", "@anthropic-ai/claude-code", "mcp-remote")
	},
	"browser": func() error {
		_, err := exec.LookPath("chromium")
		return errors.Join(err, program.NodePackages("cards/node", "playwright-core"))
	},
	"docker": func() error {
		if out, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput(); err != nil {
			return fmt.Errorf("no Docker engine answers: %w: %s", err, strings.TrimSpace(string(out)))
		}
		return nil
	},
	"keyring": func() error {
		_, err := exec.LookPath("gnome-keyring-daemon")
		return err
	},
	"office": func() error {
		out, err := exec.Command("docker", "image", "inspect", "--format", `{{index .Config.Labels "skills-mcp.entry"}}`, officeImage, "skills-mcp/sandbox:latest").CombinedOutput()
		versions := strings.Fields(string(out))
		if err == nil && (len(versions) != 2 || versions[0] != versions[1]) {
			err = errors.New("it is of another version")
		}
		if err != nil {
			return fmt.Errorf("%w: %s (it takes minutes and gigabytes, so make test-setup builds it only where SKILLS_MCP_REQUIRE names office)", err, strings.TrimSpace(string(out)))
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
	testenv.Need(t, name, requirements[name]())
}

func TestRequiredToolsAreKnownAndThere(t *testing.T) {
	t.Parallel()
	if len(testenv.Required()) == 0 {
		t.Skip("SKILLS_MCP_REQUIRE names nothing")
	}
	for _, name := range testenv.Required() {
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
