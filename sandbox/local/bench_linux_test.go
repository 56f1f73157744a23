//go:build amd64 || arm64

package local_test

import (
	"os/exec"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func BenchmarkFull(b *testing.B)       { sandboxtest.Benchmark(b, opener(local.Full)) }
func BenchmarkRestricted(b *testing.B) { sandboxtest.Benchmark(b, opener(local.Restricted)) }

// bubblewrap is a command line with the namespaces and the directories of the
// full tier, but without Landlock, seccomp, limits and the capture of output.
func bubblewrap(workspace string) []string {
	return []string{
		"bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL",
		"--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
		"--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", "--ro-bind-try", "/etc/ssl/certs", "/etc/ssl/certs",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind", workspace, "/workspace", "--chdir", "/workspace",
		"--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "sh", "-c", "true",
	}
}

// BenchmarkFullAgainstBubblewrap measures both in turns.
func BenchmarkFullAgainstBubblewrap(b *testing.B) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Skip("bubblewrap is not installed")
	}
	backend := opener(local.Full)(b)
	defer backend.Close()
	workspace := b.TempDir()
	line := bubblewrap(workspace)
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		if out, err := exec.Command(line[0], line[1:]...).CombinedOutput(); err != nil {
			b.Fatalf("bwrap: %v\n%s", err, out)
		}
		between := time.Now()
		if _, err := backend.Run(b.Context(), sandbox.Spec{Argv: []string{"sh", "-c", "true"}, Workspace: workspace}); err != nil {
			b.Fatal(err)
		}
		theirs += between.Sub(start)
		ours += time.Since(between)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "ratio-to-bwrap")
	b.ReportMetric(float64(theirs.Microseconds())/float64(b.N), "bwrap-µs/run")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "ours-µs/run")
}
