package sandboxtest

import (
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// BenchmarkGrants measures what grants cost a run, of a script that reads some
// files: an environment of 5,000 files that it is shown, against as many files as
// it reads in its skill; and a proxy that it does not use. All are measured in
// turns, and the medians reported, which other load moves least.
func BenchmarkGrants(b *testing.B, open func(testing.TB) sandbox.Backend) {
	backend := open(b)
	defer backend.Close()
	packages := make(map[string]string)
	for i := range 5_000 {
		packages[fmt.Sprintf("lib/package%d/module%d.py", i/20, i)] = "content\n"
	}
	environment := testfiles.Dir(b, packages)
	own := testfiles.Dir(b, map[string]string{"lib/package7/module145.py": "content\n"})
	for _, dir := range []string{environment, own} {
		testfiles.WriteMode(b, filepath.Join(dir, "bin", "tool"), "#!/bin/sh\n"+`read line < "${0%/bin/tool}/lib/package7/module145.py"`+"\n", 0o755)
	}
	without := sandbox.Spec{Script: "bin/tool", SkillDir: own, Workspace: b.TempDir(), Private: b.TempDir()}
	shown := without
	shown.Script, shown.Argv = "", []string{"tool"}
	shown.Show, shown.Path = []string{environment}, []string{filepath.Join(environment, "bin")}
	served := without
	served.Egress = idle{}
	specs := []sandbox.Spec{without, shown, served}
	took := make([][]time.Duration, len(specs))
	for b.Loop() {
		for i, spec := range specs {
			start := time.Now()
			result, err := backend.Run(b.Context(), spec)
			took[i] = append(took[i], time.Since(start))
			if err != nil || result.Status != sandbox.Exited || result.ExitCode != 0 {
				b.Fatalf("a run ended with %+v, %v", result, err)
			}
		}
	}
	median := func(i int) float64 {
		slices.Sort(took[i])
		return float64(took[i][len(took[i])/2].Microseconds())
	}
	b.ReportMetric(median(0), "without-µs")
	b.ReportMetric(median(1)/median(0), "shown-ratio")
	b.ReportMetric(median(2)/median(0), "proxy-ratio")
}

// idle is an Egress of which no program makes use.
type idle struct{}

func (idle) Serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		connection.Close()
	}
}
