package frontmatter

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

// Where npm and pip put the readers, and the programs that drive them.
const (
	nodePackage  = "node/node_modules/yaml/package.json"
	nodeScript   = "node/read.mjs"
	venvDir      = ".venv"
	pythonScript = "python/read.py"
)

// requirements find out what a reader needs. An error says what is missing.
var requirements = map[string]func() error{
	"node": func() error {
		if _, err := exec.LookPath("node"); err != nil {
			return err
		}
		if _, err := os.Stat(nodePackage); err != nil {
			return fmt.Errorf("the npm package yaml is not installed under integration/frontmatter/node")
		}
		return nil
	},
	"python": func() error {
		if out, err := exec.Command(python(), "-c", "import ruamel.yaml, yaml").CombinedOutput(); err != nil {
			return fmt.Errorf("ruamel.yaml and PyYAML are not installed in integration/frontmatter/%s: %w: %s",
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
