package hosted_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

// exclusions are the cases of the contract that do not apply, by the reason, which
// docs/hosted.md has too.
var exclusions = []struct {
	reason string
	cases  []string
}{
	{"nothing is seen of a run while it lasts: output, files and processes come back at its end", []string{
		"progress-lines", "progress-rate", "close", "hog-processes", "survivors-at-timeout", "grant-redact",
		"survivors-at-exit-background", "survivors-at-cancel-background",
		"survivors-at-exit-background-quiet", "survivors-at-cancel-background-quiet",
		"survivors-at-exit-grandchild", "survivors-at-cancel-grandchild",
		"survivors-at-exit-session", "survivors-at-cancel-session",
		"survivors-at-exit-daemon", "survivors-at-cancel-daemon",
		"survivors-at-exit-daemon-without-environment", "survivors-at-cancel-daemon-without-environment",
		"survivors-at-exit-chain", "survivors-at-cancel-chain",
	}},
	{"HOME and TMPDIR end with the run", []string{"owners-keep-their-home", "quota-of-other-owners"}},
	{"nothing of this machine is there to be shown", []string{
		"grant-show", "grant-show-read-only", "grant-show-attributes", "grant-show-nothing-else", "grant-path",
	}},
	{"a run that holds what is to be redacted is not sent", []string{"grant-redact-saved", "grant-redact-limit"}},
	{"a container of the stand-in is a plain process, which reaches all that its user does", []string{"owners-out-of-reach"}},
}

// core is what goes in and what comes back, where each run starts several programs.
var core = []string{"program-by-name", "stdin-given", "environment-clean", "arguments", "artifacts-new", "artifacts-special", "left-behind", "quota-of-short"}

func TestContract(t *testing.T) {
	cases := core
	if testenv.All(t) {
		cases = []string{""}
	}
	var except []sandboxtest.Exclusion
	for _, because := range exclusions {
		for _, name := range because.cases {
			except = append(except, sandboxtest.Exclusion{Case: name, Reason: because.reason})
		}
	}
	sandboxtest.RunSome(t, open, cases, except...)
}
