// Package process is what all backends share, wherever the processes of a run
// are: what comes before a program is started and after it has ended.
package process

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/artifact"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/scratch"
)

// Tree is a started program with all its processes.
type Tree interface {
	// Kill kills them. It may be called at any time, more than once, from
	// any goroutine.
	Kill()
	// Wait returns when they are dead and the output is captured. The error,
	// of type [sandbox.SetupError], means that the program was not started.
	Wait() (Ending, error)
}

// Ending is how a program ended. That it was killed means by Kill.
type Ending struct {
	reaper.Ending
	// OutOfMemory reports that the run had more memory than it may have.
	OutOfMemory bool
	// Lost reports that what ran it went away before it could tell how it ended.
	Lost bool
	// Reason is as in [sandbox.Result].
	Reason string
	// TimedOut reports that it was killed, where the program is, since its time
	// was over.
	TimedOut bool
	// OverQuota reports that it was killed, where the program is, because its
	// workspace held more than it may.
	OverQuota bool
	// ChangesLost is as in [sandbox.Result], and Uncollected is what is to be
	// added to its ArtifactsOmitted: files that cannot be in the workspace.
	ChangesLost bool
	Uncollected int
	// PeakMemoryBytes is as in [sandbox.Result].
	PeakMemoryBytes int64
	// Shared is what became of each of the shares that the backend was given, in
	// their order, where any value stands for those that were
	// [sandbox.AccessOff] already; nil means that none was shown.
	Shared []sandbox.Shared
}

// Start starts a program. Its time counts from when this returns, so that what
// it waits for before the program does not count; it stops waiting when ctx
// ends. Errors are of type [sandbox.SetupError] or wrap
// [sandbox.ErrUnavailable]; after the end of ctx they do not matter.
type Start func(ctx context.Context, streams *Streams) (Tree, error)

// The reasons for which a run is killed, besides the end of its context.
var (
	errTimeout     = errors.New("timeout")
	errOutputLimit = errors.New("output limit")
	errQuota       = errors.New("quota")
)

// Runner runs programs until it is closed.
type Runner struct {
	log    *slog.Logger
	info   sandbox.Info
	ctx    context.Context // ends at Close
	cancel context.CancelFunc
	runs   sync.WaitGroup

	copies *copies // nil for a backend that shows shares itself

	mu     sync.Mutex
	owners map[string]int // how many runs each has, by the owner's directory
}

// NewRunner returns a runner for the backend of that description.
func NewRunner(info sandbox.Info, log *slog.Logger) *Runner {
	r := &Runner{log: log, info: info, owners: make(map[string]int)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r
}

// Info is the description of the backend.
func (r *Runner) Info() sandbox.Info { return r.info }

// Close kills what runs and returns when it is gone.
func (r *Runner) Close() {
	r.mu.Lock()
	r.cancel()
	r.mu.Unlock()
	r.runs.Wait()
	if r.copies == nil {
		return
	}
	if err := r.copies.close(); err != nil {
		r.log.Warn("copies of directories of the user cannot be removed", "error", err)
	}
}

var errClosed = errors.New("it was closed")

// begin counts a run in. Its context ends with ctx and with the runner.
func (r *Runner) begin(ctx context.Context) (_ context.Context, end func(), _ error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return nil, nil, fmt.Errorf("%w: %w", sandbox.ErrUnavailable, errClosed)
	}
	r.runs.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(r.ctx, cancel)
	return ctx, func() {
		stop()
		cancel()
		r.runs.Done()
	}, nil
}

// Run runs a spec as [sandbox.Backend] has it. Check gets the spec with all its
// limits and directories, of its Show what is no part of Shares, finds the program and returns what starts it, before
// anything is written to the workspace. Shares that cannot be shown are
// [sandbox.AccessOff] there, and are to be passed over. Where one is
// [sandbox.AccessReview], its directories for changes are there, and are the
// run's alone until its tree is dead; the backend must not change anything there
// after that.
func (r *Runner) Run(ctx context.Context, spec sandbox.Spec, check func(sandbox.Spec) (Start, error)) (sandbox.Result, error) {
	ctx, end, err := r.begin(ctx)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer end()
	spec.Limits = WithDefaults(spec.Limits)
	if err := errors.Join(checkDirs(spec), checkShares(spec)); err != nil {
		return sandbox.Result{}, err
	}
	if spec.Show, err = checkShow(spec); err != nil {
		return sandbox.Result{}, err
	}
	if err := r.checkLibrary(spec); err != nil {
		return sandbox.Result{}, err
	}
	unlock, err := lockChanges(ctx, spec)
	if err != nil && ctx.Err() != nil {
		return r.neverStarted(), nil
	}
	if err != nil {
		return sandbox.Result{}, err
	}
	defer unlock()
	shares, reasons, err := usable(spec)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer removeUsed(shares)()
	spec.Shares = shares
	result, err := r.runAlone(ctx, spec, check)
	result.Shared = shared(shares, reasons, result.Shared)
	return result, err
}

// runAlone runs a spec while nobody else uses the changes to its shares.
func (r *Runner) runAlone(ctx context.Context, spec sandbox.Spec, check func(sandbox.Spec) (Start, error)) (sandbox.Result, error) {
	ephemeral := spec.Private == ""
	release, err := r.private(&spec)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer release()
	r.restore(spec)
	private, err := scratch.Open(spec)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer private.Close()
	before, err := artifact.Take(spec.Workspace)
	if err != nil {
		return sandbox.Result{}, sandbox.MissingDir("workspace", err)
	}
	room := r.newQuota(&spec, before)
	result, err := r.runShown(ctx, spec, private, room, check)
	if errors.Is(err, ErrShowCopies) {
		result, err = r.runShown(ctx, spec, private, room, check)
	}
	if ephemeral {
		result.Stdout.Spill, result.Stderr.Spill = "", ""
		r.copies.forget(spec.Private)
	}
	return result, err
}

// runShown runs a spec with its shares shown, by copies if that is how.
func (r *Runner) runShown(ctx context.Context, spec sandbox.Spec, private *scratch.Dir, room *quota, check func(sandbox.Spec) (Start, error)) (sandbox.Result, error) {
	shown, err := r.showCopies(ctx, &spec)
	if err != nil {
		return r.neverStarted(), nil
	}
	defer shown.close()
	room.watch(shown.usage())
	room.restore = func() { r.restore(spec) }
	start, err := check(spec)
	if err != nil {
		return sandbox.Result{}, err
	}
	result, err := r.watch(ctx, spec, start, private, room)
	if err != nil {
		return sandbox.Result{}, err
	}
	shown.store(&result)
	room.copies = nil // what grew is among the changes now
	r.restore(spec)
	r.collect(spec, room, &result)
	return result, nil
}

// collect adds to a result what the run has done to its workspace. A program
// that ended by itself may have been faster than the measurements.
func (r *Runner) collect(spec sandbox.Spec, room *quota, result *sandbox.Result) {
	after, err := artifact.Collect(spec.Workspace, room.start)
	if err != nil {
		r.log.Warn("artifacts cannot be collected", "error", err) // the program removed its workspace
		return
	}
	result.Artifacts = after.Changed
	result.ArtifactsOmitted += after.Omitted
	if room.used(after.Snapshot.Usage()).Exceeds(room.most) && (result.Status == sandbox.Exited || result.Status == sandbox.Signaled) {
		result.Status, result.ExitCode, result.Signal = sandbox.QuotaExceeded, -1, ""
	}
}

// watch runs a program until its tree is dead. What ends it early cancels the
// context with the reason.
func (r *Runner) watch(ctx context.Context, spec sandbox.Spec, start Start, private *scratch.Dir, room *quota) (sandbox.Result, error) {
	if ctx.Err() != nil {
		return r.neverStarted(), nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	streams := newStreams(spec, private, func() { cancel(errOutputLimit) })
	tree, err := start(ctx, streams)
	if err != nil {
		r.stopServing(streams)
		r.closeStreams(streams)
		if ctx.Err() != nil {
			return r.neverStarted(), nil
		}
		return sandbox.Result{}, err
	}
	started := time.Now()
	expiry := time.AfterFunc(spec.Limits.Timeout, func() { cancel(errTimeout) })
	stopMeasuring := room.measure(func() { cancel(errQuota) })
	stopKilling := context.AfterFunc(ctx, tree.Kill)
	ended, err := tree.Wait()
	r.stopServing(streams)
	stopKilling()
	stopMeasuring()
	expiry.Stop()
	duration := time.Since(started)
	r.closeStreams(streams)
	if err != nil {
		return sandbox.Result{}, err
	}
	result := sandbox.Result{
		Stdout:            streams.stdout.kept.Output(),
		Stderr:            streams.stderr.kept.Output(),
		Duration:          duration,
		CPUTime:           ended.CPUTime,
		PeakMemoryBytes:   ended.PeakMemoryBytes,
		LeftBehind:        ended.LeftBehind,
		LeftBehindOmitted: ended.LeftBehindOmitted,
		ArtifactsOmitted:  ended.Uncollected,
		ChangesLost:       ended.ChangesLost,
		Shared:            ended.Shared,
		Info:              r.info,
	}
	result.Status, result.ExitCode, result.Signal = verdict(ended, context.Cause(ctx), streams.exceeded())
	if result.Status != sandbox.Exited && result.Status != sandbox.Signaled {
		result.Reason = ended.Reason
	}
	return result, nil
}

// neverStarted is the result of a run that was canceled before its program.
func (r *Runner) neverStarted() sandbox.Result {
	return sandbox.Result{Status: sandbox.Canceled, ExitCode: -1, Info: r.info}
}

// verdict returns how a run ended. A program that came to its own end before it
// was killed has ended so, whatever its children had to suffer; but too much
// output is too much, whether or not the kill was in time, and so is memory.
func verdict(ended Ending, cause error, exceeded bool) (status sandbox.Status, code int, signal string) {
	switch {
	case exceeded:
		return sandbox.OutputLimit, -1, ""
	case ended.OutOfMemory:
		return sandbox.OutOfMemory, -1, ""
	case ended.OverQuota:
		return sandbox.QuotaExceeded, -1, ""
	case ended.TimedOut:
		return sandbox.TimedOut, -1, ""
	case ended.Lost && !ended.Killed:
		return sandbox.Lost, -1, ""
	case ended.Signal == "":
		return sandbox.Exited, ended.Code, ""
	case cause == nil || !ended.Killed:
		return sandbox.Signaled, -1, ended.Signal
	case errors.Is(cause, errTimeout):
		return sandbox.TimedOut, -1, ""
	case errors.Is(cause, errQuota):
		return sandbox.QuotaExceeded, -1, ""
	default:
		return sandbox.Canceled, -1, ""
	}
}
