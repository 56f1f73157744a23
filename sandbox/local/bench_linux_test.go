//go:build amd64 || arm64

package local_test

import (
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func BenchmarkFull(b *testing.B)       { sandboxtest.Benchmark(b, opener(local.Full)) }
func BenchmarkRestricted(b *testing.B) { sandboxtest.Benchmark(b, opener(local.Restricted)) }

func BenchmarkFullParallel(b *testing.B) { sandboxtest.BenchmarkParallel(b, opener(local.Full)) }
func BenchmarkRestrictedParallel(b *testing.B) {
	sandboxtest.BenchmarkParallel(b, opener(local.Restricted))
}

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

// BenchmarkFullAgainstBubblewrap measures, in turns, a program without sandbox,
// in bubblewrap, in a jail process that was ready and in one that was not. Of
// each it reports the median, which other load on the machine moves least.
func BenchmarkFullAgainstBubblewrap(b *testing.B) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Skip("bubblewrap is not installed")
	}
	backend := opener(local.Full)(b).(*local.Backend)
	defer backend.Close()
	workspace := b.TempDir()
	line := bubblewrap(workspace)
	program := line[len(line)-3:]
	run := func() error {
		_, err := backend.Run(b.Context(), sandbox.Spec{Argv: program, Workspace: workspace})
		return err
	}
	ways := []struct {
		name string
		run  func() error
	}{
		{"plain", func() error { return exec.Command(program[0], program[1:]...).Run() }},
		{"bwrap", func() error { return exec.Command(line[0], line[1:]...).Run() }},
		{"cold", run},
		{"ready", run}, // by what the one before has left
	}
	took := make([][]time.Duration, len(ways))
	for b.Loop() {
		backend.DropWarm()
		for i, way := range ways {
			backend.AwaitWarm()
			start := time.Now()
			if err := way.run(); err != nil {
				b.Fatalf("%s: %v", way.name, err)
			}
			took[i] = append(took[i], time.Since(start))
		}
	}
	for i, way := range ways {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds()), way.name+"-µs")
	}
	median := func(i int) float64 { return float64(took[i][len(took[i])/2]) }
	b.ReportMetric(median(3)/median(1), "ratio-to-bwrap")
	b.ReportMetric(median(2)/median(1), "cold-ratio-to-bwrap")
}

func BenchmarkFullGrants(b *testing.B) { sandboxtest.BenchmarkGrants(b, opener(local.Full)) }
func BenchmarkRestrictedGrants(b *testing.B) {
	sandboxtest.BenchmarkGrants(b, opener(local.Restricted))
}

func BenchmarkFullShares(b *testing.B) { sandboxtest.BenchmarkShares(b, opener(local.Full)) }
