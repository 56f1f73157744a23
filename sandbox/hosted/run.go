package hosted

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/anthropic"
	"github.com/skills-mcp/skills-mcp/internal/tempdir"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/transfer"
)

const (
	// answerTime is how much longer than the program the API may take.
	answerTime = 5 * time.Minute
	// maxReturned is how many files, directories and links come back, removals
	// included.
	maxReturned = 200_000
)

// Run implements [sandbox.Backend].
func (b *Backend) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	timeout := process.WithDefaults(spec.Limits).Timeout // which the script holds to
	spec.Limits.Timeout = timeout + answerTime
	spec.Limits.WorkspaceBytes = min(process.WithDefaults(spec.Limits).WorkspaceBytes, maxWorkspaceBytes)
	return b.runner.Run(ctx, spec, func(spec sandbox.Spec) (process.Start, error) {
		if len(spec.Show) > 0 || len(spec.Path) > 0 {
			return nil, process.RefusedShow("programs run in a container of somebody else, which sees nothing of this machine, prepared packages included")
		}
		o, missing, err := newOrder(spec, timeout)
		if err == nil {
			err = checkSecrets(spec, o)
		}
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, streams *process.Streams) (process.Tree, error) {
			return b.start(ctx, &run{backend: b, spec: spec, order: o, missing: missing, streams: streams})
		}, nil
	})
}

// run is one on its way. It is the [process.Tree] of it.
type run struct {
	backend *Backend
	spec    sandbox.Spec
	order   *order
	missing error // where the container has nothing that runs it
	streams *process.Streams

	workspace *os.Root
	listed    *transfer.Snapshot
	skills    []anthropic.ContainerSkill
	uploaded  []string
	release   []func()
	exchange  *exchange

	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{}
	ending process.Ending
	err    error
}

// start sends all that a run needs, and has the model run it.
func (b *Backend) start(ctx context.Context, r *run) (process.Tree, error) {
	if err := r.send(ctx); err != nil {
		r.close()
		return nil, err
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		defer r.close()
		r.ending, r.err = r.carryOut()
	}()
	return r, nil
}

// Kill ends the wait.
func (r *run) Kill() { r.cancel() }

// Wait returns when the run is over, or is not waited for any more.
func (r *run) Wait() (process.Ending, error) {
	<-r.done
	r.cancel()
	return r.ending, r.err
}

// close lets go of what the run used.
func (r *run) close() {
	for _, release := range slices.Backward(r.release) {
		release()
	}
}

// send pushes the skill, and uploads the files and the script. Errors are of type
// [sandbox.SetupError].
func (r *run) send(ctx context.Context) error {
	if err := r.sendSkill(ctx); err != nil {
		return err
	}
	if err := r.sendFiles(ctx); err != nil {
		return err
	}
	name, data, err := r.order.script()
	if err != nil {
		return err
	}
	file, err := r.backend.options.API.UploadFile(ctx, name, data)
	if err != nil {
		return r.refused(err)
	}
	r.uploaded = append(r.uploaded, file.ID)
	r.release = append(r.release, func() { r.backend.sent.remove(file.ID) })
	r.exchange = &exchange{api: r.backend.options.API, model: r.backend.options.Model, command: commandOf(name)}
	return nil
}

func (r *run) sendSkill(ctx context.Context) (err error) {
	if r.spec.SkillDir == "" {
		return nil
	}
	if r.order.Skill.Files, err = manifestOf(r.spec.SkillDir); err != nil || len(r.order.Skill.Files) == 0 {
		return err
	}
	skill, err := r.backend.options.Push(ctx, r.spec.SkillDir)
	if err != nil {
		return r.refused(err)
	}
	r.order.Skill.Name = skill.Name
	r.skills = []anthropic.ContainerSkill{{Type: "custom", SkillID: skill.ID, Version: skill.Version}}
	return nil
}

func (r *run) sendFiles(ctx context.Context) (err error) {
	if r.workspace, err = os.OpenRoot(r.spec.Workspace); err != nil {
		return sandbox.MissingDir("workspace", err)
	}
	r.release = append(r.release, func() { r.workspace.Close() })
	r.listed = transfer.List(r.workspace)
	data, err := pack(r.workspace, r.listed)
	if err != nil {
		return err
	}
	r.order.Files = uploadOf(data)
	id, release, err := r.backend.sent.take(ctx, r.order.Files, data)
	if err != nil {
		return r.refused(err)
	}
	r.uploaded, r.release = append(r.uploaded, id), append(r.release, release)
	return nil
}

// refused returns the [sandbox.SetupError] for what the API did not do, so that
// nothing has run.
func (r *run) refused(err error) error {
	if _, ok := errors.AsType[*sandbox.SetupError](err); ok {
		return err
	}
	return &sandbox.SetupError{Rule: "hosted-refused", Message: explained(err) + "; nothing was run", Hint: hintOf(err), Err: err}
}

// explained says what an error is about, without an address or a path.
func explained(err error) string {
	if refused, ok := errors.AsType[*anthropic.Error](err); ok {
		return refused.Error()
	}
	if known, ok := errors.AsType[mismatch](err); ok {
		return known.Error()
	}
	return "the API gave no answer that can be read"
}

func hintOf(err error) string {
	if hint := anthropic.Hint(err); hint != "" {
		return "Tell the user. " + hint
	}
	return "Tell the user; the server's log says more."
}

// carryOut has the model run the script, and takes what comes of it.
func (r *run) carryOut() (process.Ending, error) {
	e := r.exchange
	result, err := e.run(r.ctx, r.skills, r.uploaded)
	r.backend.log.Info("a model was asked to run a program", "model", e.model, "requests", e.cost.requests,
		"inputTokens", e.cost.input, "outputTokens", e.cost.output, "error", err)
	switch {
	case r.ctx.Err() != nil:
		return r.killed(), nil
	case err != nil && !e.began:
		return process.Ending{}, r.refused(err)
	case err != nil:
		return r.lost(err), nil
	}
	return r.takeResult(result)
}

// killed is the ending of a run that is not waited for any more, which may go on.
func (r *run) killed() process.Ending {
	return process.Ending{
		Ending: reaper.Ending{Signal: "SIGKILL", Killed: true}, ChangesLost: true,
		Reason: "the run is not waited for any longer, and nothing of it was taken; in its container it may go on until its own timeout",
	}
}

// lost is the ending of a run of which is not known how it ended.
func (r *run) lost(err error) process.Ending {
	reason := explained(err) + "; what has run in the container of the API is not known, and nothing of it was taken"
	return process.Ending{Lost: true, Reason: reason, ChangesLost: true}
}

// takeResult reads the frame, the reply, and what is in it.
func (r *run) takeResult(result *anthropic.BashResult) (process.Ending, error) {
	switch {
	case result.ErrorCode == "execution_time_exceeded":
		return process.Ending{TimedOut: true, ChangesLost: true, Reason: "the API ended the command, which took longer than it allows"}, nil
	case result.Type != "bash_code_execution_result":
		return r.lost(mismatch("the API did not run the command to its end (" + quoted(result.ErrorCode) + ")")), nil
	}
	framed, err := readFrame(result.Stdout, r.order.Nonce)
	if err != nil {
		r.backend.log.Warn("a run has no frame", "returnCode", result.ReturnCode, "stdout", tail(result.Stdout), "stderr", tail(result.Stderr))
		return r.lost(err), nil
	}
	dir, err := tempdir.New("", "skills-mcp-hosted-")
	if err != nil {
		return r.lost(mismatch("what came back cannot be stored")), nil
	}
	defer dir.Close()
	file, err := os.OpenFile(dir.Path()+"/reply", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return r.lost(mismatch("what came back cannot be stored")), nil
	}
	defer file.Close()
	made, err := download(r.ctx, r.backend.options.API, result, framed, r.order.Reply, file)
	defer r.backend.sent.remove(made...)
	if r.ctx.Err() != nil {
		return r.killed(), nil
	}
	if err != nil {
		return r.lost(err), nil
	}
	return r.takeReply(file, framed.size)
}

// takeReply takes what the script wrote of the run.
func (r *run) takeReply(file *os.File, size int64) (process.Ending, error) {
	head, stdout, stderr, files, err := readReply(file, size)
	if err != nil {
		return r.lost(err), nil
	}
	if head.Fault != "" {
		return process.Ending{}, r.fault(head.Fault)
	}
	ending, err := head.ending()
	if err != nil {
		return r.lost(err), nil
	}
	_, outErr := io.Copy(r.streams.Stdout, stdout)
	_, errErr := io.Copy(r.streams.Stderr, stderr)
	if err := errors.Join(outErr, errErr); err != nil {
		return r.lost(mismatch("what came back cannot be read")), nil
	}
	skipped, err := r.store(files)
	if err != nil {
		r.backend.log.Warn("what a hosted run changed cannot be stored", "error", err)
	}
	ending.Uncollected, ending.ChangesLost = skipped, err != nil || !head.Whole
	return ending, nil
}

// store stores what the run changed in the workspace.
func (r *run) store(files io.Reader) (skipped int, err error) {
	_ = r.workspace.Mkdir(sandbox.PrivateDir, 0o700) // else what comes back is at the top until it is whole
	return transfer.Receive(bufio.NewReader(files), r.workspace, transfer.Bounds{
		Bytes: maxReplyBytes, FileBytes: max(r.spec.Limits.FileBytes, r.listed.Largest()),
		Entries: maxReturned, Removable: r.listed.Has, Staging: sandbox.PrivateDir,
	})
}
