package sandboxtest

import (
	"os/exec"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
)

// Benchmark measures what a run costs, and reports it as ratio to the same
// program started by os/exec, both measured in turns.
func Benchmark(b *testing.B, open func(testing.TB) sandbox.Backend) {
	backend := open(b)
	defer backend.Close()
	workspace := b.TempDir()
	program := []string{"sh", "-c", "true"}
	var plain, sandboxed time.Duration
	for b.Loop() {
		start := time.Now()
		if err := exec.Command(program[0], program[1:]...).Run(); err != nil {
			b.Fatal(err)
		}
		between := time.Now()
		if _, err := backend.Run(b.Context(), sandbox.Spec{Argv: program, Workspace: workspace}); err != nil {
			b.Fatal(err)
		}
		plain += between.Sub(start)
		sandboxed += time.Since(between)
	}
	b.ReportMetric(float64(sandboxed)/float64(plain), "ratio")
	b.ReportMetric(float64((sandboxed-plain).Microseconds())/float64(b.N), "overhead-µs/run")
}
