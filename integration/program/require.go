package program

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

// Require skips the test where something that it needs is missing, or fails it
// where SKILLS_MCP_REQUIRE says that it must be there. The name is what that
// list calls it: node, python, docker or vm. The error says what is missing; nil
// means nothing.
func Require(t testing.TB, name string, missing error) {
	t.Helper()
	switch {
	case missing == nil:
	case slices.Contains(Required(), name):
		t.Fatalf("SKILLS_MCP_REQUIRE names %s, but: %v (make test-setup installs it)", name, missing)
	default:
		t.Skipf("needs %s: %v (make test-setup installs it)", name, missing)
	}
}

// Required returns what SKILLS_MCP_REQUIRE names, a comma-separated list.
func Required() []string {
	list := os.Getenv("SKILLS_MCP_REQUIRE")
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

// NodePackages tells what is missing of Node.js and of the npm packages named,
// which lie in the directory's node_modules.
func NodePackages(dir string, names ...string) error {
	if _, err := exec.LookPath("node"); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(dir, "node_modules", name, "package.json")); err != nil {
			return fmt.Errorf("npm package %s is not installed: %w", name, err)
		}
	}
	return nil
}

// Python returns the interpreter of a virtual environment.
func Python(venv string) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(venv, "Scripts", "python.exe")
	}
	return filepath.Join(venv, "bin", "python")
}

// PythonPackages tells what is missing of a virtual environment that can
// import the modules named.
func PythonPackages(venv string, modules ...string) error {
	probe := exec.Command(Python(venv), "-c", "import "+strings.Join(modules, ", "))
	if out, err := probe.CombinedOutput(); err != nil {
		return fmt.Errorf("%s cannot import %s: %w: %s",
			venv, strings.Join(modules, ", "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
