package sandboxtest

import (
	"fmt"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// endings are the ways in which a program ends by itself.
func endings() []contract {
	return []contract{
		{name: "exit-codes", test: testExitCodes},
		{name: "signals", test: testSignals},
		{name: "shell-status-of-signals", test: testShellStatus},
		{name: "program-by-name", test: testProgramByName},
	}
}

func testExitCodes(t *testing.T, f *fixture) {
	codes := some(f, []int{0, 137, 255, 1, 42, 125, 126, 127, 128, 143})
	if testenv.All(t) {
		codes = append(codes, 2, 3, 64, 100, 124, 129, 130, 139, 200, 254)
	}
	workspace := t.TempDir()
	for _, code := range codes {
		result := f.run(t, sandbox.Spec{Shell: fmt.Sprintf("exit %d", code), Workspace: workspace})
		expectExit(t, result, code)
	}
}

func testSignals(t *testing.T, f *fixture) {
	for _, name := range some(f, []string{"KILL", "SEGV", "TERM", "HUP", "INT", "QUIT", "ABRT", "PIPE", "USR1"}) {
		result := f.run(t, sandbox.Spec{Argv: []string{"sh", "-c", "kill -" + name + " $$; sleep 1000"}})
		if result.Status != sandbox.Signaled || result.Signal != "SIG"+name || result.ExitCode != -1 {
			t.Errorf("after %s: %q, signal %q, exit code %d", name, result.Status, result.Signal, result.ExitCode)
		}
	}
}

// A shell turns the signal of its child into an exit code, which is then the
// program's own.
func testShellStatus(t *testing.T, f *fixture) {
	result := f.run(t, sandbox.Spec{Shell: "sh -c 'kill -SEGV $$'; exit $?"})
	expectExit(t, result, 139)
}

func testProgramByName(t *testing.T, f *fixture) {
	out := f.succeed(t, sandbox.Spec{Argv: []string{"printf", "%s|", "a b", "", "*"}})
	if out != "a b||*|" {
		t.Errorf("printf wrote %q", out)
	}
	_, err := f.backend.Run(t.Context(), sandbox.Spec{Argv: []string{"no-such-program"}, Workspace: t.TempDir()})
	expectSetupError(t, err, "program-missing", "no-such-program")
	_, err = f.backend.Run(t.Context(), sandbox.Spec{Argv: []string{"sh"}, Shell: "true", Workspace: t.TempDir()})
	expectSetupError(t, err, "spec-invalid", "exactly one")
}
