package sandboxtest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/procstat"
	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// loads are many runs, and what they cost in the long run.
func loads() []contract {
	return []contract{
		{name: "runs-concurrent", test: testConcurrent},
		{name: "runs-concurrent-in-one-workspace", test: testOneWorkspace},
		{name: "runs-sequential-leak-nothing", test: testLeaks, alone: true},
	}
}

func testConcurrent(t *testing.T, f *fixture) {
	var all sync.WaitGroup
	runs := testenv.Rounds(t, 24, 64)
	if f.shares.Brief {
		runs /= 2
	}
	for i := range runs {
		workspace := t.TempDir()
		all.Go(func() {
			text := fmt.Sprintf("run %d", i)
			result, err := f.backend.Run(t.Context(), sandbox.Spec{
				Shell: `cat | tee out; exit ` + strconv.Itoa(i), Stdin: []byte(text), Workspace: workspace,
			})
			if err != nil || result.ExitCode != i || string(result.Stdout.Data) != text || len(result.Artifacts) != 1 {
				t.Errorf("%s ended with %+v, %v", text, result, err)
			}
		})
	}
	all.Wait()
}

func testOneWorkspace(t *testing.T, f *fixture) {
	workspace, private := t.TempDir(), t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			result, err := f.backend.Run(t.Context(), sandbox.Spec{
				Shell:     fmt.Sprintf("mkdir d%d && echo %d > d%d/f && seq 1000", i, i, i),
				Workspace: workspace, Private: private,
				Limits: sandbox.Limits{OutputBytes: 100},
			})
			if err != nil || result.Status != sandbox.Exited || result.ExitCode != 0 || result.Stdout.Spill == "" {
				t.Errorf("run %d ended with %+v, %v", i, result, err)
			}
		})
	}
	all.Wait()
}

// testLeaks runs programs one after the other, some of them with all that a
// run can have, and expects that nothing is left of them in this process. Of
// either there are more than what may be left.
func testLeaks(t *testing.T, f *fixture) {
	testenv.Slow(t, "runs hundreds of programs")
	workspace, private, dir := t.TempDir(), t.TempDir(), t.TempDir()
	shown := []string{testfiles.Dir(t, nil)}
	if _, err := f.backend.Run(t.Context(), sandbox.Spec{Argv: []string{"true"}, Workspace: workspace, Show: shown}); err != nil {
		shown = nil // where the engine sees no directories of this machine
	}
	runs := func(n, every int) {
		for i := range n {
			spec := sandbox.Spec{Argv: []string{"true"}}
			if i%every == 0 {
				spec = sandbox.Spec{
					Shell: "cat; (setsid sleep 1000 &); exit 0", Stdin: noise(4, 1000),
					Progress: func(string) {}, Limits: sandbox.Limits{OutputBytes: 10},
					Egress: idle{}, Show: shown, Redact: redactTo("***"),
				}
			}
			spec.Workspace, spec.Private, spec.SkillDir = workspace, private, dir
			expectExit(t, f.run(t, spec), 0)
		}
	}
	const slow = 40 * time.Millisecond
	begun := time.Now()
	runs(5, 50)
	count, every := testenv.Rounds(t, 200, 1000), testenv.Rounds(t, 10, 50)
	if time.Since(begun)/5 > slow { // as containers are
		count, every = testenv.Rounds(t, 12, 200), testenv.Rounds(t, 2, 8)
	}
	// What is prepared for the next run comes and goes, and what a run was in
	// may be released after its end.
	const prepared = 5
	closeIdle := func() {}
	if b, keeps := f.backend.(interface{ CloseIdleConnections() }); keeps {
		closeIdle = b.CloseIdleConnections
	}
	closeIdle()
	descriptors, goroutines := countDescriptors(t)+prepared, runtime.NumGoroutine()+prepared
	runs(count, every)
	t.Logf("%d runs one after the other took %v", count, time.Since(begun))
	left := func() (what []string) {
		closeIdle()
		if n := countDescriptors(t); n > descriptors {
			what = append(what, fmt.Sprintf("%d descriptors, at most %d were to be expected", n, descriptors))
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			what = append(what, fmt.Sprintf("%d goroutines, at most %d were to be expected", n, goroutines))
		}
		return append(what, listZombies(t)...)
	}
	// Other connections that are kept for the next request end by themselves,
	// after a minute at most.
	for deadline := time.Now().Add(3 * patience); len(left()) > 0; time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there still are %q", left())
		}
	}
}

func countDescriptors(t *testing.T) int {
	t.Helper()
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// listZombies lists the dead children of this process, where /proc tells.
func listZombies(t *testing.T) (zombies []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // gone meanwhile
		}
		if stat, ok := procstat.Parse(text); ok && stat.State == 'Z' && stat.Parent == os.Getpid() {
			zombies = append(zombies, string(text))
		}
	}
	return zombies
}
