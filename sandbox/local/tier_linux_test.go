//go:build amd64 || arm64

package local_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// Where namespaces are refused, the best tier is restricted. Where they are
// refused for certain is inside of a sandbox, in which this test runs again.
func TestTierWhereNamespacesAreRefused(t *testing.T) {
	const variable = "LOCAL_TEST_NESTED"
	if os.Getenv(variable) != "" {
		backend, err := local.New(t.Context(), local.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer backend.Close()
		_, err = local.New(t.Context(), local.Options{Tier: local.Full})
		fmt.Printf("tier %s, %t: %v\n", backend.Info().Tier, errors.Is(err, sandbox.ErrUnavailable), err)
		return
	}
	backend := opener(local.Restricted)(t)
	defer backend.Close()
	skill := t.TempDir()
	copyOfThisTest(t, filepath.Join(skill, "nested"))
	result, err := backend.Run(t.Context(), sandbox.Spec{
		SkillDir: skill, Script: "nested", Args: []string{"-test.run=^" + t.Name() + "$"}, Workspace: t.TempDir(),
		Env:    map[string]string{variable: "1"},
		Limits: sandbox.Limits{MemoryBytes: 1 << 46}, // for the race detector
	})
	if err != nil {
		t.Fatal(err)
	}
	out := string(result.Stdout.Data)
	if !strings.Contains(out, "tier restricted, true: ") || !strings.Contains(out, "user namespaces are refused; allow them") {
		t.Errorf("%s, exit code %d: %s%s", result.Status, result.ExitCode, out, result.Stderr.Data)
	}
}

func copyOfThisTest(t *testing.T, to string) {
	t.Helper()
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(file, from)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownTierIsUnavailable(t *testing.T) {
	t.Parallel()
	if _, err := local.New(t.Context(), local.Options{Tier: "some"}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	for tier, want := range map[local.Tier]sandbox.Info{
		local.Full:       {SkillDir: "/skill", Workspace: "/workspace", Notice: "have no network"},
		local.Restricted: {SkillDir: "$SKILL_DIR", Workspace: "$WORKSPACE", Notice: "can see that other files and processes exist"},
	} {
		backend := opener(tier)(t)
		defer backend.Close()
		info := backend.Info()
		if info.Backend != "local" || info.Tier != string(tier) || info.SkillDir != want.SkillDir ||
			info.Workspace != want.Workspace || !strings.Contains(info.Notice, want.Notice) {
			t.Errorf("Info is %+v", info)
		}
	}
}
