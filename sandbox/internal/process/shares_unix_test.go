//go:build unix

package process_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/process"
)

// runWith runs a program with shares by a runner of its own, as another process
// would, once ready says so.
func runWith(ctx context.Context, t *testing.T, shares []sandbox.Share, ready func()) (sandbox.Result, error) {
	t.Helper()
	runner := process.NewRunner(sandbox.Info{}, slog.New(slog.DiscardHandler))
	defer runner.Close()
	return runner.Run(ctx, sandbox.Spec{Workspace: t.TempDir(), Shares: shares}, func(sandbox.Spec) (process.Start, error) {
		return func(context.Context, *process.Streams) (process.Tree, error) {
			ready()
			command := exec.CommandContext(ctx, "true")
			return tree{command}, command.Start()
		}, nil
	})
}

// Changes are of one run at a time, whoever wants them in which order.
func TestRunsTakeTurnsWithChanges(t *testing.T) {
	t.Parallel()
	dir, changes := t.TempDir(), t.TempDir()
	layers := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	share := func(name string) sandbox.Share {
		dir := layers[name]
		return sandbox.Share{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: filepath.Join(changes, name)}
	}
	var atOnce atomic.Int32
	ended := make(chan error)
	const runs = 8
	for i := range runs {
		shares := []sandbox.Share{share("a"), share("b")}
		if i%2 == 0 {
			shares[0], shares[1] = shares[1], shares[0]
		}
		go func() {
			_, err := runWith(t.Context(), t, shares, func() {
				if atOnce.Add(1) > 1 {
					t.Error("two runs have the same changes")
				}
				if err := os.WriteFile(filepath.Join(dir, "turn"), nil, 0o600); err != nil {
					t.Error(err)
				}
				atOnce.Add(-1)
			})
			ended <- err
		}()
	}
	for range runs {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// A run that waits for changes is not started when it is canceled.
func TestWaitingForChangesIsCanceled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shares := []sandbox.Share{{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: t.TempDir()}}
	_, err := runWith(t.Context(), t, shares, func() {
		ctx, cancel := context.WithCancel(t.Context())
		waiting := make(chan struct{})
		go func() { <-waiting; cancel() }()
		close(waiting)
		result, err := runWith(ctx, t, shares, func() { t.Error("it was started") })
		if err != nil || result.Status != sandbox.Canceled {
			t.Errorf("%+v, %v", result, err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// A backend that knows nothing of shares shows none, and says so.
func TestSharesAreOffByDefault(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	result, err := runWith(t.Context(), t, []sandbox.Share{{Path: dir, Layers: []string{dir}, Access: sandbox.AccessRead}}, func() {})
	if err != nil || len(result.Shared) != 1 || result.Shared[0].Access != sandbox.AccessOff || result.Shared[0].Reason == "" || result.Shared[0].Path != "" {
		t.Errorf("%+v, %v", result.Shared, err)
	}
}

func TestSharesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]sandbox.Share{
		"relative":          {Path: "project", Layers: []string{"/"}, Access: sandbox.AccessRead},
		"unclean":           {Path: "/a/../b", Layers: []string{"/"}, Access: sandbox.AccessRead},
		"no layers":         {Path: "/a", Access: sandbox.AccessRead},
		"a relative layer":  {Path: "/a", Layers: []string{"/a", "b"}, Access: sandbox.AccessRead},
		"no access":         {Path: "/a", Layers: []string{"/a"}},
		"off":               {Path: "/a", Layers: []string{"/a"}, Access: sandbox.AccessOff},
		"no place to write": {Path: "/a", Layers: []string{"/a"}, Access: sandbox.AccessReview},
	} {
		_, err := runWith(t.Context(), t, []sandbox.Share{share}, func() { t.Errorf("%s: it was started", name) })
		if setup := new(sandbox.SetupError); !errors.As(err, &setup) || setup.Rule != "spec-invalid" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
