package docker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
)

// runAtOnce runs a spec some times, each until all are there, in containers in which
// nothing was before, and returns what each said.
func runAtOnce(t *testing.T, backend *docker.Backend, n int, spec sandbox.Spec) []string {
	t.Helper()
	here, err := os.MkdirTemp(spec.Workspace, "here-")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(here, 0o777); err != nil {
		t.Fatal(err)
	}
	spec.Private = privateOf(t, spec.Workspace)
	spec.Shell = fmt.Sprintf(`ls /tmp; touch /tmp/used; mktemp -p %[1]s XXXXXX > /dev/null; while [ $(ls %[1]s | wc -l) -lt %[2]d ]; do sleep 0.02; done; %[3]s`,
		filepath.Base(here), n, spec.Shell)
	said := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			result, err := backend.Run(t.Context(), spec)
			if err != nil || result.ExitCode != 0 {
				t.Errorf("%+v, %v", result, err)
			}
			said[i] = string(result.Stdout.Data)
		})
	}
	all.Wait()
	return said
}

// expectWaiting waits until nothing but what waits is left of a backend.
func expectWaiting(t *testing.T, backend *docker.Backend, least, most int) {
	t.Helper()
	backend.AwaitWarm()
	n := backend.Waiting()
	if n < least || n > most {
		t.Errorf("%d containers wait, want %d to %d", n, least, most)
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		there := containers(t, backend.Session())
		if len(there) == n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d containers wait, and there are %d", n, len(there))
		}
	}
}

// As many containers wait as there were runs at once, for each the right ones, and
// after a while one.
func TestBurstsAreStartedAhead(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	specs := map[string]sandbox.Spec{}
	for _, name := range []string{"one", "other"} {
		spec := sandbox.Spec{Shell: "cat name; cat $SKILL_DIR/name", Workspace: t.TempDir(), SkillDir: t.TempDir()}
		for _, dir := range []string{spec.Workspace, spec.SkillDir} {
			if err := os.WriteFile(filepath.Join(dir, "name"), []byte(name), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		specs[name] = spec
	}
	for round := range 2 {
		var all sync.WaitGroup
		for name, spec := range specs {
			all.Go(func() {
				for _, said := range runAtOnce(t, backend, 3, spec) {
					if said != name+name {
						t.Errorf("in round %d a run of %s said %q", round, name, said)
					}
				}
			})
		}
		all.Wait()
		expectWaiting(t, backend, 3, 6)
	}
	backend.ExpireWarm()
	expectWaiting(t, backend, len(specs), len(specs))
	backend.ExpireWarm() // the last of each waits longer
	expectWaiting(t, backend, len(specs), len(specs))
}

// However many runs there are at once, no more than a few wait for the next ones;
// nor more than one where the engine has little memory.
func TestWhatWaitsIsBounded(t *testing.T) {
	t.Parallel()
	for name, bounds := range map[string]struct {
		memory            int64
		runs, least, most int
	}{"much memory": {64 << 30, 7, 2, 5}, "little memory": {1 << 30, 2, 1, 1}} {
		t.Run(name, func(t *testing.T) {
			backend := openUntilEnd(t)
			backend.SetMemory(bounds.memory)
			runAtOnce(t, backend, bounds.runs, sandbox.Spec{Workspace: t.TempDir(), SkillDir: t.TempDir()})
			expectWaiting(t, backend, bounds.least, bounds.most)
		})
	}
}
