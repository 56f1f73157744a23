package flood

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/integration/program"
)

// flags make a server with few places for programs.
var flags = []string{"--sandbox=unsafe-host", "--max-runs=4", "--log-level=error"}

// newRoot makes a root with one skill.
func newRoot(t testing.TB) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("what is left is looked for in /proc")
	}
	root := t.TempDir()
	entry := filepath.Join(root, "note", "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(entry), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(entry, []byte("---\nname: note\ndescription: Takes notes.\n---\nWrite it down.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

var markers atomic.Int64

// newMarker returns what `sleep` takes for ten minutes and no other process
// here has on its command line.
func newMarker() string { return fmt.Sprintf("600.%d%04d", os.Getpid(), markers.Add(1)) }

// checkSettled waits until no program of the flood runs any more, and the
// server has no more files open than it had before.
func checkSettled(t testing.TB, p *program.Process, marker string, files int) {
	t.Helper()
	program.Eventually(t, "all programs are gone", func() bool { return !running(t, marker) })
	program.Eventually(t, fmt.Sprintf("the server has %d files open again", files), func() bool { return openFiles(t, p) <= files })
}

// running reports whether a process has a marker on its command line.
func running(t testing.TB, marker string) bool {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		line, err := os.ReadFile(file)
		return err == nil && bytes.Contains(line, []byte(marker))
	})
}

func openFiles(t testing.TB, p *program.Process) int {
	t.Helper()
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// checkExited holds a server that was told to go against what it may leave.
func checkExited(t testing.TB, p *program.Process, env []string) {
	t.Helper()
	if code := p.ExitCode(t); code != 0 {
		t.Errorf("the server exits with %d", code)
	}
	left, err := os.ReadDir(program.Environ(env)["TMPDIR"])
	if err != nil || len(left) > 0 {
		t.Errorf("the server leaves %v, %v", left, err)
	}
}

// report prints how long pings took.
func report(b *testing.B, pings []time.Duration) {
	b.Helper()
	slices.Sort(pings)
	at := func(part float64) float64 {
		return float64(pings[int(part*float64(len(pings)-1))].Microseconds()) / 1000
	}
	b.ReportMetric(at(0.5), "ms-p50")
	b.ReportMetric(at(0.99), "ms-p99")
	b.ReportMetric(at(1), "ms-max")
	b.ReportMetric(float64(len(pings)), "pings")
}

// serving are functions in which only goroutines are that serve a request.
var serving = []string{".HandleMessage(", ".(*Queue).", "stdio.(*front).accept"}

// checkDump holds a dump of goroutines against what may be among them.
func checkDump(t testing.TB, dump string) {
	t.Helper()
	if !strings.Contains(dump, "goroutine 1 ") {
		t.Fatalf("no goroutines: %s", dump)
	}
	for goroutine := range strings.SplitSeq(dump, "\n\n") {
		state, _, _ := strings.Cut(goroutine, "\n")
		if strings.HasSuffix(state, "[runnable]:") || strings.HasSuffix(state, "[running]:") {
			continue // it has answered and is about to end; what is left behind waits
		}
		for _, function := range serving {
			if strings.Contains(goroutine, function) {
				t.Errorf("still serving: %s", goroutine)
				break
			}
		}
	}
}
