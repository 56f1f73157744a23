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

// filesOfWaiting is how many files a server has open for the supervisor that waits
// for its next run: one end each of a socket and of a pipe, and what stands for it.
const filesOfWaiting = 3

// filesBefore counts what a server has open that has run no program. It answers
// before it watches its root.
func filesBefore(t testing.TB, p *program.Process) (files int) {
	t.Helper()
	program.Eventually(t, "the server watches its root", func() bool {
		open := openFiles(t, p)
		files = len(open)
		return slices.Contains(open, "anon_inode:inotify")
	})
	return files
}

// checkSettled waits until no program of the flood runs any more, and the server
// has no more files open than it had before it ran any, but for those of one child.
func checkSettled(t testing.TB, p *program.Process, marker string, files int) {
	t.Helper()
	program.Eventually(t, "all programs are gone", func() bool { return !running(t, marker) })
	defer func() {
		if t.Failed() {
			t.Logf("open are %q", openFiles(t, p))
		}
	}()
	program.Eventually(t, fmt.Sprintf("the server has %d files open again, and at most one child", files), func() bool {
		waiting := children(t, p)
		return waiting <= 1 && len(openFiles(t, p)) <= files+waiting*filesOfWaiting
	})
}

// children counts the child processes of a server.
func children(t testing.TB, p *program.Process) (count int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		status, err := os.ReadFile(file)
		if err == nil && bytes.Contains(status, fmt.Appendf(nil, "\nPPid:\t%d\n", p.Cmd.Process.Pid)) {
			count++
		}
	}
	return count
}

// openFiles lists what a server has open, as far as that may be known, but for the
// lock of its audit log, which it keeps from the first record on.
func openFiles(t testing.TB, p *program.Process) (names []string) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name, _ := os.Readlink(file); !strings.HasSuffix(name, ".lock") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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
