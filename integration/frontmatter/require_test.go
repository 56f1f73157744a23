package frontmatter

import (
	"os"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// Where npm and pip put the readers, and the programs that drive them.
const (
	nodeDir         = "node"
	nodeScript      = "node/read.mjs"
	venvDir         = ".venv"
	pythonScript    = "python/read.py"
	referenceScript = "python/validate.py"
)

// requireReaders skips the test where a reader is missing, or fails it where
// SKILLS_MCP_REQUIRE says that it must be there.
func requireReaders(t *testing.T) {
	t.Helper()
	testenv.Need(t, "node", program.NodePackages(nodeDir, "yaml"))
	testenv.Need(t, "python", program.PythonPackages(venvDir, "ruamel.yaml", "yaml"))
	// What the readers' processes read, go test does not see, and would repeat
	// its last result.
	for _, name := range []string{nodeScript, pythonScript, "node/package-lock.json", "python/requirements.txt"} {
		if _, err := os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
}

// requireReference does the same for the reference validator.
func requireReference(t *testing.T) {
	t.Helper()
	testenv.Need(t, "python", program.PythonPackages(venvDir, "skills_ref"))
	if _, err := os.ReadFile(referenceScript); err != nil {
		t.Fatal(err)
	}
}
