package hosts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	// nodeDir holds LangChain for JavaScript and the script that drives it.
	nodeDir = "node"
	// clientsDir is where the tests of the parent directory have Claude Code.
	clientsDir = "../node"
	// pythonDir holds the script that drives LangChain for Python, which is
	// installed in venvDir.
	pythonDir = "python"
	venvDir   = ".venv"
)

// requirements find out what a tool's tests need. An error says what is
// missing.
var requirements = map[string]func() error{
	"node": func() error {
		if _, err := exec.LookPath("node"); err != nil {
			return err
		}
		for dir, packages := range map[string][]string{
			nodeDir:    {"@langchain/core", "@langchain/mcp-adapters"},
			clientsDir: {"@anthropic-ai/claude-code"},
		} {
			for _, name := range packages {
				if _, err := os.Stat(filepath.Join(dir, "node_modules", name, "package.json")); err != nil {
					return fmt.Errorf("npm package %s is not installed under integration/hosts/%s", name, dir)
				}
			}
		}
		return nil
	},
	"python": func() error {
		probe := exec.Command(python(), "-c", "import langchain_mcp_adapters")
		if out, err := probe.CombinedOutput(); err != nil {
			return fmt.Errorf("langchain-mcp-adapters is not installed in integration/hosts/%s: %w: %s",
				venvDir, err, strings.TrimSpace(string(out)))
		}
		return nil
	},
}

// python is the virtual environment's interpreter.
func python() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venvDir, "Scripts", "python.exe")
	}
	return filepath.Join(venvDir, "bin", "python")
}

// require skips the test where the named requirement is not met, or fails it
// where SKILLS_MCP_REQUIRE says that it must be.
func require(t *testing.T, name string) {
	t.Helper()
	err := requirements[name]()
	if err == nil {
		return
	}
	if slices.Contains(strings.Split(os.Getenv("SKILLS_MCP_REQUIRE"), ","), name) {
		t.Fatalf("SKILLS_MCP_REQUIRE names %s, but: %v (make test-setup installs it)", name, err)
	}
	t.Skipf("needs %s: %v (make test-setup installs it)", name, err)
}
