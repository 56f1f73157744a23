package execution

import (
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/server/internal/failure"
)

// A run of which the changes are lost is no success, and keeps its own ending.
func TestLostChangesAreTold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		result sandbox.Result
		code   failure.Code
		says   string
	}{
		{sandbox.Result{Status: sandbox.Exited, ChangesLost: true}, failure.ExecutionFailed, "exit code 0, but"},
		{sandbox.Result{Status: sandbox.Exited, ExitCode: 7, ChangesLost: true}, failure.ExecutionFailed, "exit code 7;"},
		{sandbox.Result{Status: sandbox.Lost, ExitCode: -1, ChangesLost: true}, failure.ContainerError, "before the program's end"},
		{sandbox.Result{Status: sandbox.Lost, ExitCode: -1, Reason: "something else was run", ChangesLost: true}, failure.ContainerError, "something else was run;"},
		{sandbox.Result{Status: sandbox.Canceled, ExitCode: -1, Reason: "it may go on", ChangesLost: true}, failure.ExecutionCanceled, "it may go on;"},
		{sandbox.Result{Status: sandbox.TimedOut, ExitCode: -1, ChangesLost: true}, failure.ExecutionTimeout, "killed after"},
	} {
		failure := runFailure(c.result)
		if failure == nil || failure.Code != c.code || !strings.Contains(failure.Message, c.says) || !strings.Contains(failure.Message, "could not be stored") {
			t.Errorf("%+v gives %+v", c.result, failure)
		}
	}
	if failure := runFailure(sandbox.Result{Status: sandbox.Exited}); failure != nil {
		t.Errorf("a success gives %+v", failure)
	}
}
