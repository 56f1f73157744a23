package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// NodePackages says what is missing of Node.js and of the npm packages named,
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

// PythonPackages says what is missing of a virtual environment that has the
// modules named. It does not import them, which takes a second with some.
func PythonPackages(venv string, modules ...string) error {
	const probe = "import importlib.util, sys; sys.exit(' '.join(m for m in sys.argv[1:] if not importlib.util.find_spec(m)) or 0)"
	cmd := exec.Command(Python(venv), append([]string{"-c", probe}, modules...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s lacks modules of %s: %w: %s",
			venv, strings.Join(modules, ", "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
