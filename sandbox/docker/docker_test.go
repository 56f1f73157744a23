package docker_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/remote"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

// open opens a backend, or skips the test where there is no engine or image,
// unless SKILLS_MCP_REQUIRE names "docker".
func open(t testing.TB) sandbox.Backend { return openWith(t, docker.Options{}) }

func openWith(t testing.TB, options docker.Options) *docker.Backend {
	t.Helper()
	return openEngine(t, "docker", options)
}

// openEngine opens a backend on an engine of that name in SKILLS_MCP_REQUIRE.
func openEngine(t testing.TB, name string, options docker.Options) *docker.Backend {
	t.Helper()
	testenv.Slow(t, "containers")
	if options.Remote == nil {
		options.Remote = remote.Access{}
	}
	options.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	backend, err := docker.New(t.Context(), options)
	if errors.Is(err, sandbox.ErrUnavailable) {
		testenv.Need(t, name, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return backend
}

// openUntilEnd opens a backend that is closed at the end of the test.
func openUntilEnd(t testing.TB) *docker.Backend {
	t.Helper()
	return untilEnd(t, openWith(t, docker.Options{}))
}

func untilEnd(t testing.TB, backend *docker.Backend) *docker.Backend {
	t.Helper()
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return backend
}

func TestContract(t *testing.T) {
	if testenv.All(t) {
		sandboxtest.Run(t, open)
		return
	}
	sandboxtest.RunBrief(t, func(t testing.TB) sandbox.Backend {
		backend := openWith(t, docker.Options{})
		backend.SetWarmMax(0)
		return backend
	}, []string{""}, sandboxtest.Exclusion{Case: leaks, Reason: "TestContractStartedAhead"})
}

// leaks is the case in which each run finds a container started ahead.
const leaks = "runs-sequential-leak-nothing"

func TestContractStartedAhead(t *testing.T) {
	sandboxtest.RunBrief(t, open, []string{leaks, "runs-concurrent", "owners-keep", "stdin-given", "library-apart"})
}

// Python has the name "python" too.
func TestPythonByItsShortName(t *testing.T) {
	backend := shared(t)
	result, err := backend.Run(t.Context(), sandbox.Spec{Shell: "[ -z $(command -v python3) ] || python --version", Workspace: t.TempDir()})
	if err != nil || result.ExitCode != 0 {
		t.Errorf("%+v, %v", result, err)
	}
}
