package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// command is the server's import path, so that any directory of the module
// can build it.
const command = "github.com/skills-mcp/skills-mcp/cmd/skills-mcp"

// binary is where Main built the server, an absolute path.
var binary string

// Main builds the server, with the race detector where the tests have it, runs
// a package's tests and returns their exit code. The binary is removed when
// they are over.
func Main(m *testing.M) int {
	dir, err := os.MkdirTemp("", "skills-mcp-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// A server that is started with this environment records nothing of the tests
	// in the audit log of the user who runs them.
	if err := os.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Nor does it read that user's configuration.
	if err := os.Setenv("SKILLS_MCP_CONFIG", os.DevNull); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	if binary, err = build(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// builtVariable names a server that is built already, as the packages' tests
// would build it: the Makefile links it once for all of them.
const builtVariable = "SKILLS_MCP_TEST_BINARY"

// build returns the path of a server in dir that no other build replaces.
func build(dir string) (string, error) {
	path := filepath.Join(dir, "skills-mcp")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	if built := os.Getenv(builtVariable); built != "" {
		return path, copyProgram(path, built)
	}
	// Without debugging information it is linked in half the time.
	build := exec.Command("go", "build", "-ldflags=-w", "-o", path)
	if raceEnabled {
		build.Args = append(build.Args, "-race")
	}
	build.Args = append(build.Args, command)
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v: %w\n%s", build.Args, err, out)
	}
	return path, nil
}

func copyProgram(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("%s: %w", builtVariable, err)
	}
	return os.WriteFile(to, text, 0o755)
}

// Binary returns the absolute path of the server that Main built. The test's
// result is not repeated from go test's cache once the server's sources, the
// sample skills, or the programs in the directories node, python and gosdk of
// the package under test are others.
func Binary(t testing.TB) string {
	t.Helper()
	if binary == "" {
		t.Fatal("the server is not built: TestMain does not call program.Main")
	}
	if err := lookedAtSources(); err != nil {
		t.Fatal(err)
	}
	return binary
}
