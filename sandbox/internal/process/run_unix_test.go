//go:build unix

package process_test

import (
	"context"
	"errors"
	"log/slog"
	"os/exec"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/reaper"
)

// tree is a program without children.
type tree struct{ command *exec.Cmd }

func (t tree) Kill() { t.command.Process.Kill() }

func (t tree) Wait() (process.Ending, error) {
	t.command.Wait() // how it ended is in ProcessState
	return process.Ending{Ending: reaper.Ending{Code: t.command.ProcessState.ExitCode()}}, nil
}

// run runs a program that is started once ready says so.
func run(ctx context.Context, t *testing.T, ready func(context.Context) error) (sandbox.Result, error) {
	t.Helper()
	runner := process.NewRunner(sandbox.Info{}, slog.New(slog.DiscardHandler))
	t.Cleanup(runner.Close)
	spec := sandbox.Spec{Workspace: t.TempDir(), Limits: sandbox.Limits{Timeout: 20 * time.Second}}
	return runner.Run(ctx, spec, func(sandbox.Spec) (process.Start, error) {
		return func(ctx context.Context, _ *process.Streams) (process.Tree, error) {
			if err := ready(ctx); err != nil {
				return nil, err
			}
			command := exec.CommandContext(ctx, "true")
			return tree{command}, command.Start()
		}, nil
	})
}

// What a backend needs to get ready is not the program's time.
func TestTimeBeforeTheStartIsNotCounted(t *testing.T) {
	t.Parallel()
	const preparation = 300 * time.Millisecond
	begun := time.Now()
	result, err := run(t.Context(), t, func(context.Context) error { time.Sleep(preparation); return nil })
	if whole := time.Since(begun); err != nil || result.Status != sandbox.Exited || result.Duration > whole-preparation {
		t.Errorf("%+v, %v, after %v in all", result, err, whole)
	}
}

// A run that ends before its program is started never failed.
func TestStartIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	result, err := run(ctx, t, func(ctx context.Context) error {
		cancel()
		<-ctx.Done()
		return errors.New("gave up")
	})
	if err != nil || result.Status != sandbox.Canceled || result.ExitCode != -1 {
		t.Errorf("%+v, %v", result, err)
	}
	refused := errors.New("refused")
	if _, err := run(t.Context(), t, func(context.Context) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("a start that fails gives %v", err)
	}
}
