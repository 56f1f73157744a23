package process

import (
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/artifact"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/disk"
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

// ownFiles and ownBytes are what a backend itself may add to a workspace:
// sandbox.PrivateDir.
const (
	ownFiles = 1
	ownBytes = ownFiles * 4 << 10
)

// quota bounds what a workspace, its private directory and the changes to shares
// hold. No kernel bounds a directory for an ordinary user, so they are measured,
// and the run that leads beyond is killed.
type quota struct {
	workspace string
	others    []string // what counts besides
	// copies are those of shares, with what they held at the start: what comes
	// to them counts.
	copies  map[string]disk.Usage
	start   *artifact.Snapshot
	most    disk.Usage
	free    map[string]int64 // on the disks, at the start, by a directory there
	restore func()
}

// reserve is how much of a disk, of that size, is left to others.
func reserve(disk int64) int64 { return min(disk/20, 1<<30) }

// newQuota returns the quota of a workspace that holds what it did at the start
// of a run. In one that is full, the run gets files of one byte at most: it
// can read and tidy up. What cannot be looked into could be anything and could
// become anything, so with that a workspace is full.
func (r *Runner) newQuota(spec *sandbox.Spec, start *artifact.Snapshot) *quota {
	q := &quota{workspace: spec.Workspace, others: append(uppersOf(spec.Shares), spec.Private), start: start, restore: func() { r.restore(*spec) }}
	q.free = make(map[string]int64)
	for _, dir := range append(changesOf(spec.Shares), spec.Workspace) {
		q.free[dir], _, _ = diskSpace(dir)
	}
	isFull := func(used disk.Usage) bool { return used.Bytes >= spec.Limits.WorkspaceBytes || used.Missed > 0 }
	used := q.used(start.Usage())
	if isFull(used) || used.Files >= spec.Limits.WorkspaceFiles {
		r.tidy(spec.Private)
		used = q.used(start.Usage())
	}
	if isFull(used) {
		spec.Limits.FileBytes = 1
	}
	spec.Limits.WorkspaceBytes = max(spec.Limits.WorkspaceBytes, used.Bytes+ownBytes)
	spec.Limits.WorkspaceFiles = max(spec.Limits.WorkspaceFiles, used.Files+ownFiles)
	q.most = disk.Usage{Bytes: spec.Limits.WorkspaceBytes, Files: spec.Limits.WorkspaceFiles, Missed: used.Missed}
	return q
}

// used adds what the other directories hold to what the workspace does.
func (q *quota) used(workspace disk.Usage) disk.Usage {
	return workspace.Add(disk.MeasureAll(disk.Unbounded, q.others...)).Add(q.grown())
}

// watch has what comes to copies count, and what programs take of their disk.
func (q *quota) watch(copies map[string]disk.Usage) {
	q.copies = copies
	for dir := range copies {
		q.free[dir], _, _ = diskSpace(dir)
	}
}

// grown is what has come to the copies of shares.
func (q *quota) grown() (all disk.Usage) {
	for dir, before := range q.copies {
		now := disk.MeasureAll(disk.Unbounded, dir)
		all = all.Add(disk.Usage{
			Bytes: max(0, now.Bytes-before.Bytes), Files: max(0, now.Files-before.Files), Missed: max(0, now.Missed-before.Missed),
		})
	}
	return all
}

func (q *quota) dirs() []string { return append([]string{q.workspace}, q.others...) }

// exceeded measures. A program that takes away modes is none that hides what it
// writes.
func (q *quota) exceeded() bool {
	used := disk.MeasureAll(q.most, q.dirs()...).Add(q.grown())
	if used.Exceeds(q.most) {
		q.restore()
		used = disk.MeasureAll(q.most, q.dirs()...).Add(q.grown())
	}
	return used.Exceeds(q.most) || q.fillsDisk()
}

// fillsDisk reports whether a disk is nearly full, and was not before by as
// much as the quota: files that were removed while a program has them open
// are in no directory. That other programs of the machine have filled it is
// possible, and no reason to fill the rest.
func (q *quota) fillsDisk() bool {
	for dir, before := range q.free {
		free, all, known := diskSpace(dir)
		if known && free < reserve(all) && before-free > q.most.Bytes {
			return true
		}
	}
	return false
}

// measure measures in the background, and calls kill once the quota is
// exceeded, until it is stopped.
func (q *quota) measure(kill func()) (stop func()) {
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		next := time.NewTimer(firstMeasure)
		defer next.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-next.C:
			}
			begun := time.Now()
			if q.exceeded() {
				kill()
				return
			}
			next.Reset(min(max(time.Since(begun)*measureShare, firstMeasure), maxMeasureInterval))
		}
	}()
	return func() {
		close(stopped)
		<-ended
	}
}
