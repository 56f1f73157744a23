package docker_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

// tidy waits after each run for what is started ahead: Podman makes the
// directory of a test again that is removed meanwhile, and removes it again, but
// not as fast as the test looks.
type tidy struct{ *docker.Backend }

func (b tidy) Run(ctx context.Context, spec sandbox.Spec) (sandbox.Result, error) {
	defer b.AwaitWarm()
	return b.Backend.Run(ctx, spec)
}

// servePodman starts Podman's service and returns its address, or skips the test
// where there is no Podman with the image, unless SKILLS_MCP_REQUIRE names
// "podman".
func servePodman(t *testing.T) string {
	t.Helper()
	if out, err := exec.Command("podman", "image", "inspect", docker.DefaultImage).CombinedOutput(); err != nil {
		testenv.Need(t, "podman", fmt.Errorf("%w: %s", err, bytes.TrimSpace(out)))
	}
	socket := filepath.Join(t.TempDir(), "podman.sock")
	arguments := []string{"system", "service", "--time", "0", "unix://" + socket}
	if _, err := exec.LookPath("runc"); err == nil { // crun knows no control groups of both versions together
		arguments = append([]string{"--runtime", "runc"}, arguments...)
	}
	service := exec.Command("podman", arguments...)
	service.Dir = t.TempDir() // where a file tells of each container that is out of memory
	said := new(bytes.Buffer)
	service.Stdout, service.Stderr = said, said
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		service.Process.Signal(os.Interrupt)
		service.Wait() // however it ends
	})
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(socket); err == nil {
			return "unix://" + socket
		}
		if time.Now().After(deadline) {
			t.Fatalf("Podman's service does not come up: %s", said)
		}
	}
}

func openPodman(t testing.TB, host string) *docker.Backend {
	t.Helper()
	return openEngine(t, "podman", docker.Options{Host: host})
}

func TestContractPodman(t *testing.T) {
	t.Parallel()
	testenv.Variant(t, "the contract on another engine")
	host := servePodman(t)
	sandboxtest.Run(t, func(t testing.TB) sandbox.Backend { return tidy{openPodman(t, host)} })
}

func TestPodman(t *testing.T) {
	t.Parallel()
	host := servePodman(t)
	expectUnavailable(t, docker.Options{Host: host, Runtime: "runc"}, "podman --runtime")
	backend := openPodman(t, host)
	defer backend.Close()
	if info := backend.Info(); info.Backend != "podman" {
		t.Errorf("Info is %+v", info)
	}
	for name, refused := range map[string]string{
		"the kernel's parameters": "grep . /proc/cmdline",
		"the machine's devices":   "ls /sys/class/net",
		"memory":                  "x=$(yes | head -c 300000000)",
		"files to write":          "echo x > /x || echo x > /var/tmp/x || echo x > /run/x",
		"a network":               "tail -n +3 /proc/net/dev | grep -v ' lo:'",
		"capabilities":            "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):.*[1-9a-f]' /proc/self/status",
	} {
		result := run(t, backend, sandbox.Spec{Shell: refused, Limits: sandbox.Limits{MemoryBytes: 64 << 20}})
		if result.Status == sandbox.Exited && result.ExitCode == 0 {
			t.Errorf("%s: %s%s", name, result.Stdout.Data, result.Stderr.Data)
		}
	}
}

func TestPodmanWithCopies(t *testing.T) {
	t.Parallel()
	backend := openPodman(t, enginetest.Forward(t, strings.TrimPrefix(servePodman(t), "unix://"), nil))
	defer backend.Close()
	skill := t.TempDir()
	if err := os.WriteFile(filepath.Join(skill, "run.sh"), []byte("echo ran > ran; echo \"$(id -u) $(stat -c %u .)\""), 0o600); err != nil {
		t.Fatal(err)
	}
	workspace := t.TempDir()
	result := run(t, backend, sandbox.Spec{Script: "run.sh", SkillDir: skill, Workspace: workspace})
	if got := string(result.Stdout.Data); got != "65534 65534\n" || len(result.Artifacts) != 1 || result.ChangesLost {
		t.Errorf("%+v", result)
	}
	result = run(t, backend, sandbox.Spec{
		Shell: `grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):.*[1-9a-f]' /proc/self/status || echo x > "$SKILL_DIR/run.sh" || echo x > /x || echo x > /run/x`, SkillDir: skill,
	})
	if result.Status != sandbox.Exited || result.ExitCode == 0 {
		t.Errorf("%s%s", result.Stdout.Data, result.Stderr.Data)
	}
}

// Podman takes a mount as one line of fields, which a directory's name must not
// go on with.
func TestPodmanIsGivenNoFieldsByPaths(t *testing.T) {
	t.Parallel()
	backend := openPodman(t, servePodman(t))
	defer backend.Close()
	for _, name := range []string{"x,source=/etc", "x,ro=false", `x"y`} {
		skill := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(skill, 0o755); err != nil {
			t.Fatal(err)
		}
		result, err := backend.Run(t.Context(), sandbox.Spec{Shell: `cat "$SKILL_DIR/passwd"`, SkillDir: skill, Workspace: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), "comma") {
			t.Errorf("%s is shared: %s, %v", name, result.Stdout.Data, err)
		}
	}
}
