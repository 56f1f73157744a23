package docker

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/handover"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/artifact"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// deadlineGrace is how long after its timeout a program is killed inside the
// container, should the server fail to see to it.
const deadlineGrace = 10 * time.Second

// The reasons for which a run is killed, besides the end of its context.
var (
	errTimeout     = errors.New("timeout")
	errOutputLimit = errors.New("output limit")
)

// Run implements [sandbox.Backend].
func (b *Backend) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	ctx, end, err := b.begin(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer end()
	spec.Limits = withDefaults(spec.Limits)
	order, err := b.order(spec)
	if err != nil {
		return sandbox.Result{}, err
	}
	private, err := scratch.Open(spec.Workspace)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer private.Close()
	user, err := adopt(spec.Workspace)
	if err != nil {
		return sandbox.Result{}, process.Missing("workspace", err)
	}
	before, err := artifact.Take(spec.Workspace)
	if err != nil {
		return sandbox.Result{}, process.Missing("workspace", err)
	}
	at := placeOf(spec, user)
	result, err := b.watch(ctx, spec, at, order, func(exceeded func()) *capture { return newCapture(spec, private, exceeded) })
	if err != nil {
		return sandbox.Result{}, err
	}
	b.pool.refill(at)
	if after, err := artifact.Take(spec.Workspace); err != nil {
		b.log.Warn("artifacts cannot be collected", "error", err) // the program removed its workspace
	} else {
		result.Artifacts, result.ArtifactsOmitted = after.Since(before)
	}
	return result, nil
}

// watch runs a program until no process of it is left. A container that was
// started ahead may have died meanwhile; then another one is taken.
func (b *Backend) watch(ctx context.Context, spec sandbox.Spec, at place, order handover.Order, open func(exceeded func()) *capture) (sandbox.Result, error) {
	for {
		c, spare, err := b.container(ctx, at)
		if ctx.Err() != nil { // the program is not worth starting
			if c != nil {
				c.release()
			}
			return sandbox.Result{Status: sandbox.Canceled, ExitCode: -1, Info: b.Info()}, nil
		}
		if err != nil {
			return sandbox.Result{}, fmt.Errorf("%w: %w", sandbox.ErrUnavailable, err)
		}
		result, started, err := b.attempt(ctx, spec, c, order, open)
		if started || err != nil {
			return result, err
		}
		if !spare {
			return sandbox.Result{}, fmt.Errorf("%w: a container ended before it was told what to run", sandbox.ErrUnavailable)
		}
	}
}

// container gives a container for one run, and tells whether it was started
// ahead.
func (b *Backend) container(ctx context.Context, at place) (c *container, spare bool, err error) {
	if c := b.pool.take(ctx, at); c != nil {
		return c, true, nil
	}
	c, err = b.start(ctx, at)
	return c, false, err
}

// attempt runs a program in one container. It was not started if the
// container never got the order.
func (b *Backend) attempt(ctx context.Context, spec sandbox.Spec, c *container, order handover.Order, open func(exceeded func()) *capture) (_ sandbox.Result, started bool, _ error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, spec.Limits.Timeout, errTimeout)
	defer stop()

	capture := open(func() { cancel(errOutputLimit) })
	begun := time.Now()
	ended := c.run(ctx, order, spec.Stdin, capture)
	duration := time.Since(begun)
	capture.close(b.log)
	cause := context.Cause(ctx)
	switch {
	case !ended.acked && cause == nil:
		return sandbox.Result{}, false, nil
	case ended.report != nil && ended.report.Errno != 0:
		return sandbox.Result{}, true, process.StartFailed(syscall.Errno(ended.report.Errno))
	}
	result := sandbox.Result{
		Stdout:   capture.stdout.Output(),
		Stderr:   capture.stderr.Output(),
		Duration: duration,
		Info:     b.Info(),
	}
	if report := ended.report; report != nil {
		result.CPUTime = time.Duration(report.CPUNanos)
		result.PeakMemoryBytes = report.PeakMemoryBytes
	}
	result.Status, result.ExitCode, result.Signal = verdict(ended.report, cause, capture.exceeded())
	return result, true, nil
}

// verdict tells how a run ended. A program that came to its own end before it
// was killed has ended so, whatever its children had to suffer; but too much
// output is too much, whether or not the kill was in time.
func verdict(report *handover.Report, cause error, exceeded bool) (status sandbox.Status, code int, signal string) {
	switch {
	case exceeded:
		return sandbox.OutputLimit, -1, ""
	case report != nil && !report.Killed:
		// The kernel kills one process for want of memory, and the program
		// suffers from that if it was not the program itself.
		if report.OOMKills > 0 && report.Code != 0 {
			return sandbox.OutOfMemory, -1, ""
		}
		if signal := report.Signal(); signal != "" {
			return sandbox.Signaled, -1, signal
		}
		return sandbox.Exited, int(report.Code), ""
	case errors.Is(cause, errTimeout), cause == nil && report != nil:
		return sandbox.TimedOut, -1, ""
	case cause != nil:
		return sandbox.Canceled, -1, ""
	default: // someone else has killed the whole container
		return sandbox.Signaled, -1, "SIGKILL"
	}
}

func withDefaults(l sandbox.Limits) sandbox.Limits {
	setDefault(&l.Timeout, sandbox.DefaultTimeout)
	setDefault(&l.OutputBytes, sandbox.DefaultOutputBytes)
	setDefault(&l.SpillBytes, sandbox.DefaultSpillBytes)
	setDefault(&l.MemoryBytes, sandbox.DefaultMemoryBytes)
	setDefault(&l.Processes, sandbox.DefaultProcesses)
	setDefault(&l.FileBytes, sandbox.DefaultFileBytes)
	setDefault(&l.OpenFiles, sandbox.DefaultOpenFiles)
	return l
}

func setDefault[T int | int64 | time.Duration](limit *T, value T) {
	if *limit <= 0 {
		*limit = value
	}
}
