package sandboxtest

import (
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Benchmark measures what a run costs, and reports it as ratio to the same
// program started by os/exec, both measured in turns.
func Benchmark(b *testing.B, open func(testing.TB) sandbox.Backend) {
	backend := open(b)
	defer backend.Close()
	workspace, private := b.TempDir(), b.TempDir()
	program := []string{"sh", "-c", "true"}
	var plain, sandboxed time.Duration
	for b.Loop() {
		start := time.Now()
		if err := exec.Command(program[0], program[1:]...).Run(); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if _, err := backend.Run(b.Context(), sandbox.Spec{Argv: program, Workspace: workspace, Private: private}); err != nil {
			b.Fatal(err)
		}
		plain += between.Sub(start)
		sandboxed += time.Since(between)
	}
	b.ReportMetric(float64(sandboxed)/float64(plain), "ratio")
	b.ReportMetric(float64((sandboxed-plain).Microseconds())/float64(b.N), "overhead-µs/run")
}

// parallelRuns is how many programs [BenchmarkParallel] runs at once.
const parallelRuns = 64

// BenchmarkParallel measures how many runs a second there are one after the
// other and many at once, and reports the ratio: at best the number of
// processors. The programs compute for a few milliseconds each, in workspaces
// of their own.
func BenchmarkParallel(b *testing.B, open func(testing.TB) sandbox.Backend) {
	backend := open(b)
	defer backend.Close()
	workspaces, private := make([]string, parallelRuns), b.TempDir()
	for i := range workspaces {
		workspaces[i] = b.TempDir()
	}
	run := func(workspace string) {
		const program = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
		result, err := backend.Run(b.Context(), sandbox.Spec{Argv: []string{"sh", "-c", program}, Workspace: workspace, Private: private})
		if err != nil || result.Status != sandbox.Exited {
			b.Errorf("a run ended with %+v, %v", result, err)
		}
	}
	var sequential, parallel time.Duration
	for b.Loop() {
		start := time.Now()
		for _, workspace := range workspaces {
			run(workspace)
		}
		between := time.Now()
		var all sync.WaitGroup
		for _, workspace := range workspaces {
			all.Go(func() { run(workspace) })
		}
		all.Wait()
		sequential += between.Sub(start)
		parallel += time.Since(between)
	}
	runs := float64(parallelRuns * b.N)
	b.ReportMetric(runs/sequential.Seconds(), "runs/s-sequential")
	b.ReportMetric(runs/parallel.Seconds(), "runs/s-parallel")
	b.ReportMetric(float64(sequential)/float64(parallel), "scaling")
}
