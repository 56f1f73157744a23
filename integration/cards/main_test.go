package cards

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// browserName is the program, as Debian has it.
const browserName = "chromium"

func TestMain(m *testing.M) { os.Exit(program.Main(m)) }

// need skips the test where there is no browser, or fails it where
// SKILLS_MCP_REQUIRE says that there must be one.
func need(t *testing.T) {
	t.Helper()
	_, err := exec.LookPath(browserName)
	testenv.Need(t, "browser", errors.Join(err, program.NodePackages("node", "playwright-core")))
}
