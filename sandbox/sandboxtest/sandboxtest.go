// Package sandboxtest is the contract that every sandbox backend passes:
//
//	func TestContract(t *testing.T) {
//		sandboxtest.Run(t, func(t testing.TB) sandbox.Backend { … })
//	}
//
// Its programs are POSIX shell scripts that it writes itself; the sandbox
// needs sh, the usual small tools, and setsid. Cases that need Python are
// skipped where there is none, unless the environment variable
// SKILLS_MCP_REQUIRE, a list of names, has "python".
package sandboxtest

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// patience bounds everything that is expected to happen soon.
const patience = 30 * time.Second

// Exclusion names a case that a backend cannot pass, and why.
type Exclusion struct {
	// Case is the name of the subtest.
	Case string
	// Reason is shown where the case is skipped.
	Reason string
}

// contract is one case. Its test may use the backend together with others,
// unless it is alone.
type contract struct {
	name   string
	alone  bool
	review bool // it is about changes to shares
	test   func(t *testing.T, f *fixture)
}

func contracts() []contract {
	return slices.Concat(endings(), inputs(), owners(), outputs(), artifacts(), scripts(), kills(), quotas(), hogs(), grants(), libraries(), loads())
}

// fixture is what the cases share.
type fixture struct {
	backend sandbox.Backend
	open    func(testing.TB) sandbox.Backend
	shares  Shares
}

// Run runs the suite. It opens a backend with open, and more of them for the
// cases that close one; it closes them all.
func Run(t *testing.T, open func(testing.TB) sandbox.Backend, except ...Exclusion) {
	RunSome(t, open, []string{""}, except...)
}

// RunSome is [Run] for the cases whose names begin with one of the prefixes.
func RunSome(t *testing.T, open func(testing.TB) sandbox.Backend, prefixes []string, except ...Exclusion) {
	(&fixture{open: open}).runSome(t, prefixes, except)
}

// RunBrief is [RunSome] for backends whose programs take long to start: of what is
// tried in the same way with other values, which other backends are, it tries the
// first few, unless all variants are asked for.
func RunBrief(t *testing.T, open func(testing.TB) sandbox.Backend, prefixes []string, except ...Exclusion) {
	(&fixture{open: open, shares: Shares{Brief: !testenv.All(t)}}).runSome(t, prefixes, except)
}

func (f *fixture) runSome(t *testing.T, prefixes []string, except []Exclusion) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs of this suite are POSIX shell scripts")
	}
	all := slices.DeleteFunc(contracts(), func(c contract) bool {
		return !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(c.name, prefix) })
	})
	f.backend = f.openAnother(t)
	f.runAll(t, all, except)
}

// runAll runs all cases but those that a backend cannot pass.
func (f *fixture) runAll(t *testing.T, all []contract, except []Exclusion) {
	known := slices.Concat(contracts(), shares())
	for _, e := range except {
		if !slices.ContainsFunc(known, func(c contract) bool { return c.name == e.Case }) {
			t.Errorf("the excluded case %q does not exist", e.Case)
		}
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			for _, e := range except {
				if e.Case == c.name {
					t.Skipf("this backend cannot: %s", e.Reason)
				}
			}
			if !c.alone {
				t.Parallel()
			}
			c.test(t, f)
		})
	}
}

// openAnother opens a backend for t alone.
func (f *fixture) openAnother(t *testing.T) sandbox.Backend {
	t.Helper()
	backend := f.open(t)
	t.Cleanup(func() {
		if err := backend.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return backend
}

// run runs a spec in new directories, unless it names them, and expects it to
// start.
func (f *fixture) run(t *testing.T, spec sandbox.Spec) sandbox.Result {
	t.Helper()
	return f.runContext(t.Context(), t, spec)
}

func (f *fixture) runContext(ctx context.Context, t *testing.T, spec sandbox.Spec) sandbox.Result {
	t.Helper()
	if spec.Workspace == "" {
		spec.Workspace = t.TempDir()
	}
	if spec.Private == "" {
		spec.Private = t.TempDir()
	}
	if spec.SkillDir == "" {
		spec.SkillDir = t.TempDir()
	}
	if spec.Limits.Timeout == 0 {
		spec.Limits.Timeout = patience
	}
	result, err := f.backend.Run(ctx, spec)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if result.Duration < 0 {
		t.Errorf("Duration = %v", result.Duration)
	}
	if info := f.backend.Info(); result.Info != info {
		t.Errorf("Result.Info = %+v, but the backend's is %+v", result.Info, info)
	}
	return result
}

// succeed runs a spec, expects exit code 0 and returns the standard output.
func (f *fixture) succeed(t *testing.T, spec sandbox.Spec) string {
	t.Helper()
	result := f.run(t, spec)
	expectExit(t, result, 0)
	return string(result.Stdout.Data)
}

func expectExit(t *testing.T, result sandbox.Result, code int) {
	t.Helper()
	if result.Status != sandbox.Exited || result.ExitCode != code || result.Signal != "" {
		t.Fatalf("ended as %q, exit code %d, signal %q, want exit code %d; stdout %q, stderr %q",
			result.Status, result.ExitCode, result.Signal, code, result.Stdout.Data, result.Stderr.Data)
	}
}

func expectStatus(t *testing.T, result sandbox.Result, status sandbox.Status) {
	t.Helper()
	if result.Status != status || result.ExitCode != -1 || result.Signal != "" {
		t.Fatalf("ended as %q, exit code %d, signal %q, want %q, -1 and none; stderr %q",
			result.Status, result.ExitCode, result.Signal, status, result.Stderr.Data)
	}
}

// skill makes a skill directory of files, by slash-separated path.
func skill(t *testing.T, files map[string]string) string {
	t.Helper()
	return testfiles.Dir(t, files)
}
