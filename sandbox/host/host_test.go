package host_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func open(t testing.TB) sandbox.Backend { return openWith(t, host.Options{}) }

func openWith(t testing.TB, options host.Options) sandbox.Backend {
	t.Helper()
	options.Logger = slog.New(slog.NewTextHandler(t.Output(), nil))
	backend, err := host.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return backend
}

// unbounded is what the package's documentation does not promise.
var unbounded = []sandboxtest.Exclusion{
	{Case: "quota-of-short-runs", Reason: "no limit holds for the size of files"},
	{Case: "quota-hidden-before", Reason: "no limit holds for the size of files"},
	{Case: "hog-file-size", Reason: "no limit holds for the size of files"},
	{Case: "hog-memory", Reason: "no limit holds for memory"},
	{Case: "owners-out-of-reach", Reason: "programs reach all that their user does"},
	{Case: "grant-show-read-only", Reason: "programs change all that their user may"},
	{Case: "grant-show-attributes", Reason: "programs change all that their user may"},
	{Case: "grant-show-nothing-else", Reason: "programs reach all that their user does"},
}

func BenchmarkRun(b *testing.B) { sandboxtest.Benchmark(b, open) }

// Nobody may take this backend for a sandbox.
func TestInfoSaysThatNothingIsIsolated(t *testing.T) {
	t.Parallel()
	backend := open(t)
	defer backend.Close()
	info := backend.Info()
	if info.Backend != "unsafe-host" || info.Tier != "none" || !strings.HasPrefix(info.Notice, "Nothing is isolated") {
		t.Errorf("Info is %+v", info)
	}
	if info.SkillDir != "$SKILL_DIR" || info.Workspace != "$WORKSPACE" {
		t.Errorf("the directories are %q and %q", info.SkillDir, info.Workspace)
	}
}
