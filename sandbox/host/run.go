package host

import (
	"context"
	"errors"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/artifact"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

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
	what, err := b.program(spec)
	if err != nil {
		return sandbox.Result{}, err
	}
	private, err := scratch.Open(spec.Workspace)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer private.Close()
	before, err := artifact.Take(spec.Workspace)
	if err != nil {
		return sandbox.Result{}, missing("workspace", err)
	}
	result, err := b.watch(ctx, spec, what, private)
	if err != nil {
		return sandbox.Result{}, err
	}
	if after, err := artifact.Take(spec.Workspace); err != nil {
		b.log.Warn("artifacts cannot be collected", "error", err) // the program removed its workspace
	} else {
		result.Artifacts, result.ArtifactsOmitted = after.Since(before)
	}
	return result, nil
}

// watch runs a program until its tree is dead.
func (b *Backend) watch(ctx context.Context, spec sandbox.Spec, what program, private *scratch.Dir) (sandbox.Result, error) {
	if ctx.Err() != nil { // the program is not worth starting
		return sandbox.Result{Status: sandbox.Canceled, ExitCode: -1, Info: b.Info()}, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, stop := context.WithTimeoutCause(ctx, spec.Limits.Timeout, errTimeout)
	defer stop()

	streams := newStreams(spec, private, func() { cancel(errOutputLimit) })
	started := time.Now()
	tree, err := start(what, streams)
	if err != nil {
		b.closeStreams(streams)
		return sandbox.Result{}, err
	}
	stopKilling := context.AfterFunc(ctx, tree.kill)
	ended, err := tree.wait()
	stopKilling()
	duration := time.Since(started)
	b.closeStreams(streams)
	if err != nil {
		return sandbox.Result{}, err
	}

	result := sandbox.Result{
		Stdout:   streams.stdout.Output(),
		Stderr:   streams.stderr.Output(),
		Duration: duration,
		Info:     b.Info(),
	}
	result.Status, result.ExitCode, result.Signal = verdict(ended, context.Cause(ctx), streams.exceeded())
	return result, nil
}

// verdict tells how a run ended. A program that came to its own end before it
// was killed has ended so, whatever its children had to suffer; but too much
// output is too much, whether or not the kill was in time.
func verdict(ended ending, cause error, exceeded bool) (status sandbox.Status, code int, signal string) {
	switch {
	case exceeded:
		return sandbox.OutputLimit, -1, ""
	case ended.signal == "":
		return sandbox.Exited, ended.code, ""
	case cause == nil || !ended.killed:
		return sandbox.Signaled, -1, ended.signal
	case errors.Is(cause, errTimeout):
		return sandbox.TimedOut, -1, ""
	default:
		return sandbox.Canceled, -1, ""
	}
}

func withDefaults(l sandbox.Limits) sandbox.Limits {
	if l.Timeout <= 0 {
		l.Timeout = sandbox.DefaultTimeout
	}
	if l.OutputBytes <= 0 {
		l.OutputBytes = sandbox.DefaultOutputBytes
	}
	if l.SpillBytes <= 0 {
		l.SpillBytes = sandbox.DefaultSpillBytes
	}
	return l
}
