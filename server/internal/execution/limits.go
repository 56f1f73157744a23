package execution

import (
	"cmp"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Defaults of Limits.
const (
	defaultLongest      = 10 * time.Minute
	defaultInstructions = 200_000
)

// Limits bound the runs of a skill, and what is shown of it. Zero fields mean the defaults.
type Limits struct {
	// Limits are those of one run; Timeout is that of a run that asks for no time
	// of its own.
	sandbox.Limits
	// Longest is how much time a run may have, whatever it asks for. If zero, ten
	// minutes.
	Longest time.Duration
	// Instructions is how many bytes of a skill's instructions are shown at once.
	// If zero, 200,000.
	Instructions int64
}

// LimitsOf returns the limits of the runs of a skill, and of those of no skill
// where the name is empty. It is called by several goroutines.
type LimitsOf func(skill string) Limits

// Of returns the limits of a skill's runs, those of which nothing is said with
// their defaults.
func (of LimitsOf) Of(skill string) Limits {
	var limits Limits
	if of != nil {
		limits = of(skill)
	}
	limits.Longest = cmp.Or(limits.Longest, defaultLongest)
	limits.Timeout = min(cmp.Or(limits.Timeout, sandbox.DefaultTimeout), limits.Longest)
	limits.Instructions = cmp.Or(limits.Instructions, defaultInstructions)
	limits.WorkspaceBytes = cmp.Or(limits.WorkspaceBytes, sandbox.DefaultWorkspaceBytes)
	limits.WorkspaceFiles = cmp.Or(limits.WorkspaceFiles, sandbox.DefaultWorkspaceFiles)
	return limits
}

// run returns the limits of a run that asks for so much time, or for none.
func (l Limits) run(asked time.Duration) sandbox.Limits {
	limits := l.Limits
	limits.Timeout = min(cmp.Or(asked, l.Timeout), l.Longest)
	return limits
}
