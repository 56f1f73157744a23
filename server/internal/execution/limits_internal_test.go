package execution

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// What an operator says nothing of is bounded all the same.
func TestLimitsByDefault(t *testing.T) {
	t.Parallel()
	want := Limits{Longest: defaultLongest, Instructions: defaultInstructions, Limits: sandbox.Limits{
		Timeout: sandbox.DefaultTimeout, WorkspaceBytes: sandbox.DefaultWorkspaceBytes, WorkspaceFiles: sandbox.DefaultWorkspaceFiles,
	}}
	for name, of := range map[string]LimitsOf{"none": nil, "zero": func(string) Limits { return Limits{} }} {
		if got := of.Of("a-skill"); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}
