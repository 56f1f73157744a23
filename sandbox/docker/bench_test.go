package docker_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func BenchmarkRun(b *testing.B)    { sandboxtest.Benchmark(b, open) }
func BenchmarkGrants(b *testing.B) { sandboxtest.BenchmarkGrants(b, open) }

// BenchmarkFirstOutput measures, in turns, how long it takes from a call to
// the first line of output: of a program without container, of a run that
// finds a container started ahead, of one that does not, of one to which files
// are copied, and of what one would do with the docker command.
func BenchmarkFirstOutput(b *testing.B) {
	backend := openWith(b, docker.Options{})
	defer backend.Close()
	warm := b.TempDir()
	firstLine(b, backend, warm)
	copying := openCopying(b)
	filled := b.TempDir() // a megabyte, of small and large files
	for i := range 100 {
		name := filepath.Join(filled, strconv.Itoa(i))
		if err := os.WriteFile(name, make([]byte, 1<<10<<(i%5)), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	keeper := startKeeper(b)
	ways := []struct {
		name string
		run  func() time.Duration
	}{
		{"plain-ms", func() time.Duration { return firstLineOf(b, "sh", "-c", "echo x") }},
		{"warm-ms", func() time.Duration { return firstLine(b, backend, warm) }},
		{"cold-ms", func() time.Duration { return firstLine(b, backend, b.TempDir()) }},
		{"copies-ms", func() time.Duration { return firstLine(b, copying, filled) }},
		{"docker-run-ms", func() time.Duration {
			return firstLineOf(b, "docker", "run", "--rm", "--network", "none", "--read-only", "--cap-drop", "ALL",
				"--log-driver", "none", "--user", "65534:65534", "--entrypoint", "sh", docker.DefaultImage, "-c", "echo x")
		}},
		{"docker-exec-ms", func() time.Duration { return firstLineOf(b, "docker", "exec", keeper, "sh", "-c", "echo x") }},
	}
	total := make([]time.Duration, len(ways))
	for b.Loop() {
		for i, way := range ways {
			backend.AwaitWarm()
			copying.AwaitWarm()
			total[i] += way.run()
		}
	}
	for i, way := range ways {
		b.ReportMetric(float64(total[i].Microseconds())/1000/float64(b.N), way.name)
	}
}

// firstLine returns the time to the first line of a run, which has the private
// directory of its workspace, as those of a server have.
func firstLine(b *testing.B, backend sandbox.Backend, workspace string) time.Duration {
	b.Helper()
	private := privateOf(b, workspace)
	var first time.Duration
	begun := time.Now()
	result, err := backend.Run(b.Context(), sandbox.Spec{
		Argv: []string{"sh", "-c", "echo x"}, Workspace: workspace, Private: private,
		Progress: func(string) { first = time.Since(begun) },
	})
	if err != nil || result.ExitCode != 0 {
		b.Fatal(result, err)
	}
	if first == 0 { // the run was over before the line was reported
		first = time.Since(begun)
	}
	return first
}

// firstLineOf returns the time to the first line of a command on this machine.
func firstLineOf(b *testing.B, name string, args ...string) time.Duration {
	b.Helper()
	command := exec.Command(name, args...)
	stdout, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begun := time.Now()
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	first := time.Since(begun)
	io.Copy(io.Discard, stdout)
	if err := command.Wait(); err != nil {
		b.Fatal(err)
	}
	return first
}

// startKeeper starts a container for docker exec.
func startKeeper(b *testing.B) string {
	b.Helper()
	out, err := exec.Command("docker", "run", "--rm", "--detach", "--network", "none", "--entrypoint", "sleep", docker.DefaultImage, "1000").Output()
	if err != nil {
		b.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	b.Cleanup(func() { exec.Command("docker", "rm", "--force", id).Run() })
	return id
}
