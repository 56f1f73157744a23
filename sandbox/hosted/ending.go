package hosted

import (
	"errors"
	"regexp"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
)

// maxLeftBehind is how many processes are named that a program left behind.
const maxLeftBehind = 8

var signalName = regexp.MustCompile(`^SIG[A-Z0-9+-]{1,12}$`)

// ending is how the program ended, as far as that can be. Too much output is found
// by whoever captures it.
func (r *reply) ending() (process.Ending, error) {
	if r.Code < -1 || r.Code > 255 || (r.Code < 0) != (r.Signal != "") || r.Signal != "" && !signalName.MatchString(r.Signal) ||
		r.CPUNs < 0 || r.PeakBytes < 0 || len(r.LeftBehind) > maxLeftBehind || r.LeftBehindOmitted < 0 {
		return process.Ending{}, mismatch("what came back says of no program how it ended")
	}
	return process.Ending{
		Ending: reaper.Ending{
			Code: max(r.Code, 0), Signal: r.Signal, Killed: r.Killed != "", CPUTime: time.Duration(r.CPUNs),
			LeftBehind: r.LeftBehind, LeftBehindOmitted: r.LeftBehindOmitted,
		},
		PeakMemoryBytes: r.PeakBytes,
		TimedOut:        r.Killed == "timeout", OutOfMemory: r.Killed == "memory", OverQuota: r.Killed == "quota",
	}, nil
}

// fault returns the [sandbox.SetupError] for what the script in the container says
// of why it did not start the program.
func (r *run) fault(rule string) error {
	switch rule {
	case "program-missing":
		return r.missing
	case "arguments-too-long":
		return &sandbox.SetupError{
			Rule: rule, Message: "the arguments are too long for the system",
			Hint: "Give long data on standard input, or in a file of the workspace.",
		}
	case "skill-differs", "files-differ":
		return &sandbox.SetupError{
			Rule: "setup-failed", Message: "the container of the API does not have the files that were sent to it; nothing was run",
			Hint: "Try again; if that ends so again, tell the user.",
		}
	}
	return process.StartFailed(errors.New("the container says " + quoted(rule)))
}
