// Package reaper waits for a program and for all processes that it starts, as
// their parent must that outlives them: a supervisor of this machine, or the
// first process of a container. It is linked into both, and imports next to
// nothing.
package reaper

import (
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox/internal/wire"
)

// maxLeftBehind is how many of the processes are named that a program leaves
// behind.
const maxLeftBehind = 8

// Ending is how a program ended.
type Ending struct {
	Code   int    // where Signal is empty
	Signal string // that ended it, by name
	Killed bool   // before it ended by itself
	// CPUTime is that of all processes that were waited for.
	CPUTime time.Duration
	// LeftBehind are the names of processes that still ran when the program had
	// come to its end, and LeftBehindOmitted counts those that it leaves out.
	LeftBehind        []string
	LeftBehindOmitted int
}

// Fields implements [wire.Message].
func (e *Ending) Fields(t *wire.Transfer) {
	wire.Int(t, &e.Code)
	t.String(&e.Signal)
	t.Bool(&e.Killed)
	wire.Int(t, &e.CPUTime)
	t.Strings(&e.LeftBehind)
	wire.Int(t, &e.LeftBehindOmitted)
}
