package hosts

import (
	"errors"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
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
		return errors.Join(
			program.NodePackages(nodeDir, "@langchain/core", "@langchain/mcp-adapters"),
			program.NodePackages(clientsDir, "@anthropic-ai/claude-code"))
	},
	"python": func() error { return program.PythonPackages(venvDir, "langchain_mcp_adapters") },
}

// require skips the test where the named requirement is not met, or fails it
// where SKILLS_MCP_REQUIRE says that it must be.
func require(t *testing.T, name string) {
	t.Helper()
	testenv.Need(t, name, requirements[name]())
}
