package process

import (
	"context"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/artifact"
)

const (
	// firstMeasure is when after its start a run is first looked at.
	firstMeasure = 50 * time.Millisecond
	// measureShare is how much more time passes between two measurements than
	// one takes: they cost at most that part of a processor.
	measureShare = 20
	// maxMeasureInterval is how long a run may grow unseen at most, however
	// long its workspace takes to measure.
	maxMeasureInterval = 5 * time.Second
)

// quota bounds what a workspace holds. No kernel bounds a directory for an
// ordinary user, so it is measured, and the run that leads beyond is killed.
type quota struct {
	workspace string
	start     *artifact.Snapshot
	bytes     int64
	files     int
}

// newQuota gives the quota of a workspace that holds what it did at the start
// of a run, and the limits for that run.
func newQuota(spec sandbox.Spec, start *artifact.Snapshot) (*quota, sandbox.Limits) {
	limits, used := spec.Limits, start.Usage()
	if used.Bytes >= limits.WorkspaceBytes {
		limits.FileBytes = 1 // what is full can be read and tidied up only
	}
	return &quota{
		workspace: spec.Workspace,
		start:     start,
		bytes:     max(limits.WorkspaceBytes, used.Bytes),
		files:     max(limits.WorkspaceFiles, used.Files),
	}, limits
}

// exceeded tells whether a run has led beyond the quota. What cannot be looked
// at could be anything, so a run must not add to that.
func (q *quota) exceeded(now *artifact.Snapshot) bool {
	used := now.Usage()
	return used.Bytes > q.bytes || used.Files > q.files || now.Missed() > q.start.Missed()
}

// watch calls kill once the quota is exceeded. It returns then, and when ctx
// ends.
func (q *quota) watch(ctx context.Context, kill func()) {
	next := time.NewTimer(firstMeasure)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-next.C:
		}
		begun := time.Now()
		now, err := artifact.Take(q.workspace)
		if err != nil { // the program has removed it
			continue
		}
		if q.exceeded(now) {
			kill()
			return
		}
		next.Reset(min(max(time.Since(begun)*measureShare, firstMeasure), maxMeasureInterval))
	}
}
