//go:build amd64 || arm64

package environments_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
)

// TestPythonInContainers: an environment is made in the image that has it then.
func TestPythonInContainers(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "making an environment in containers")
	f := newFixture(t)
	containers, err := docker.New(t.Context(), docker.Options{})
	testenv.Need(t, "docker", err)
	defer containers.Close()
	if !containers.Info().Egress {
		t.Skip("needs an engine whose containers can be limited to hosts")
	}
	f.backend, f.store.Machine = containers, "docker "+docker.DefaultImage
	made := f.prepare(t, f.greeting())
	f.expect(t, made, `greet`, nil, "greeting hello")
	f.expect(t, made, `python -m pip install greeting && uv run s.py`, entries{"s.py": "import greeting; greeting.main()\n"}, "greeting hello")
	if result := f.run(t, made, `echo x >"$VIRTUAL_ENV/lib/x"`, nil); result.ExitCode == 0 {
		t.Error("a program wrote to it")
	}
	checkTree(t, made.Show[0])
}
