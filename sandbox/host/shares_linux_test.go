package host_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/internal/layers"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func TestShares(t *testing.T) {
	const all = "programs reach all that their user does"
	except := []sandboxtest.Exclusion{
		{Case: "share-review-hidden-stays-hidden", Reason: all},
		{Case: "share-links-out", Reason: all},
	}
	if os.Geteuid() == 0 {
		except = append(except, sandboxtest.Exclusion{Case: "share-review-directories", Reason: "no mode keeps root out"})
	}
	sandboxtest.RunShares(t, open, sandboxtest.Shares{Most: sandbox.AccessReview, Elsewhere: true, Discards: true, Brief: !testenv.All(t)}, except...)
}

// project returns a run in a project of these files.
func project(t *testing.T, shell string, files map[string]string) sandbox.Spec {
	t.Helper()
	dir := testfiles.Dir(t, files)
	return sandbox.Spec{
		Shell: shell, Workspace: t.TempDir(), Private: t.TempDir(), Project: true, InProject: true,
		Shares: []sandbox.Share{{Path: dir, Layers: []string{dir}, Access: sandbox.AccessReview, Changes: t.TempDir()}},
	}
}

// What is too large to be copied is not shown, and the program does not start
// there.
func TestSharesTooLarge(t *testing.T) {
	t.Parallel()
	backend := open(t)
	defer backend.Close()
	spec := project(t, `echo "${PROJECT-none}"; pwd; echo "$WORKSPACE"`, map[string]string{strings.Repeat("deep/", layers.MaxDepth+1): ""})
	result := run(t, backend, spec)
	if lines := strings.Split(string(result.Stdout.Data), "\n"); lines[0] != "none" || lines[1] != lines[2] {
		t.Errorf("it sees %q", lines)
	}
	const reason = "It is too large for a copy: more than 64 directories deep, and nothing holds back what programs change where it is, " +
		"which they can as the server's user."
	if want := (sandbox.Shared{Access: sandbox.AccessOff, Reason: reason}); len(result.Shared) != 1 || result.Shared[0] != want {
		t.Errorf("shared is %+v", result.Shared)
	}
}

// Where something of a copy is lost the result says so, and all else is held.
func TestSharedChangesAreLost(t *testing.T) {
	t.Parallel()
	backend := open(t)
	defer backend.Close()
	spec := project(t, `echo kept > kept; echo secret > "$WORKSPACE/secret"; ln "$WORKSPACE/secret" lost`, map[string]string{"a": "1"})
	result := run(t, backend, spec)
	if !result.ChangesLost || !strings.Contains(result.Shared[0].Reason, "is lost") {
		t.Errorf("it is %+v", result)
	}
	held, err := os.ReadDir(filepath.Join(spec.Shares[0].Changes, sandbox.UpperDir))
	if err != nil || len(held) != 1 || held[0].Name() != "kept" {
		t.Errorf("held are %v, %v", held, err)
	}
	spec.Shell = `cat kept; ls`
	if result := run(t, backend, spec); result.ChangesLost || string(result.Stdout.Data) != "kept\na\nkept\n" {
		t.Errorf("then it is %+v", result)
	}
}

// No more copies than a few are kept, and none when the backend is closed.
func TestCopiesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	backend := open(t)
	copies := func() int {
		found, err := filepath.Glob(filepath.Join(dir, "skills-mcp-copies-*", "*", "*"))
		if err != nil {
			t.Fatal(err)
		}
		return len(found)
	}
	for i := range 7 {
		spec := project(t, `echo x > x; chmod 0 .`, map[string]string{strconv.Itoa(i): ""})
		if i == 0 {
			spec.Private = "" // which is not there again
		}
		run(t, backend, spec)
		run(t, backend, spec)
		if i == 0 && copies() != 0 {
			t.Errorf("%d copies are kept of runs that cannot come again", copies())
		}
	}
	if copies() != 4 {
		t.Errorf("%d copies are kept", copies())
	}
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
