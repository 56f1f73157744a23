package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/integration/program"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// TestPackages prepares sample skills from the package indexes of this machine's
// user, and runs them.
func TestPackages(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("packages are prepared on Linux only")
	}
	testenv.Slow(t, "downloading packages")
	root, err := filepath.Abs("../testdata/skills/packages")
	if err != nil {
		t.Fatal(err)
	}
	home, uv := t.TempDir(), uvDir(t)
	run := func(arguments ...string) (string, error) {
		command := exec.CommandContext(t.Context(), program.Binary(t), arguments...)
		command.Dir = home
		command.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+home+"/state", "XDG_CONFIG_HOME="+home+"/config", "XDG_CACHE_HOME="+home+"/cache",
			"CLAUDE_PROJECT_DIR=", "PATH="+uv+":"+os.Getenv("PATH"))
		output, err := command.CombinedOutput()
		return string(output), err
	}
	if output, err := run("prepare", "--root", root, "title-slug"); err == nil || !strings.Contains(output, "--yes") || !strings.Contains(output, "python-slugify") {
		t.Errorf("without a terminal: %v\n%s", err, output)
	}
	for _, test := range []struct{ name, program, missing, call, want string }{
		{"file-sizes", "python3", "humanize", `{"name": "file-sizes", "command": "uv run \"$SKILL_DIR/scripts/sizes.py\" \"$SKILL_DIR\""}`, "SKILL.md"},
		{"title-slug", "python3", "python-slugify", `{"name": "title-slug", "script": "scripts/slug.py", "args": ["Ships & Harbours"]}`, "ships-and-harbours"},
		{"version-order", "npm", "semver", `{"name": "version-order", "script": "scripts/order.mjs", "args": ["1.10.0", "1.9.2"]}`, "1.9.2\n1.10.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := exec.LookPath(test.program); err != nil {
				testenv.Need(t, map[string]string{"npm": "node", "python3": "python"}[test.program], err)
			}
			command := "skills-mcp prepare " + test.name
			if output, err := run("call", "--root", root, "activate", "name="+test.name); err != nil || !strings.Contains(output, command) || !strings.Contains(output, test.missing) {
				t.Errorf("before: %v\n%s", err, output)
			}
			output, err := run("prepare", "--yes", "--root", root, test.name)
			switch {
			case err != nil && (strings.Contains(output, "cannot be limited to the hosts") || strings.Contains(output, "nothing can be run")):
				t.Skip("needs a sandbox that can be limited to hosts")
			case err != nil && !reachable(output):
				testenv.Need(t, "index", errors.New(output))
			case err != nil || !strings.Contains(output, test.name+": prepared"):
				t.Fatalf("%v\n%s", err, output)
			}
			if output, err = run("call", "--root", root, "exec", test.call); err != nil || !strings.Contains(output, test.want) {
				t.Errorf("%v\n%s\nwant %q", err, output, test.want)
			}
			if output, err = run("call", "--root", root, "activate", "name="+test.name); err != nil || !strings.Contains(output, "Prepared packages: ") {
				t.Errorf("afterwards: %v\n%s", err, output)
			}
		})
	}
	if output, err := run("prune", "--older", "0s"); err != nil || !strings.Contains(output, " 0 left") {
		t.Errorf("prune: %v\n%s", err, output)
	}
}

// reachable reports whether a failure is another one than that no index answers.
func reachable(output string) bool {
	for _, sign := range []string{"Failed to fetch", "error sending request", "ECONNREFUSED", "ENOTFOUND", "ETIMEDOUT", "ECONNRESET", "network"} {
		if strings.Contains(output, sign) {
			return false
		}
	}
	return true
}

// uvDir returns a directory that holds uv and nothing else: what make test-setup
// installs, or the system's.
func uvDir(t *testing.T) string {
	t.Helper()
	installed, err := filepath.Abs("packages/.venv/bin/uv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(installed); err != nil {
		installed, err = exec.LookPath("uv")
		testenv.Need(t, "python", err)
	}
	dir := t.TempDir()
	if err := os.Symlink(installed, filepath.Join(dir, "uv")); err != nil {
		t.Fatal(err)
	}
	return dir
}
