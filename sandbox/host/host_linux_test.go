package host_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
	"github.com/skills-mcp/skills-mcp/sandbox/sandboxtest"
)

func TestContract(t *testing.T) { sandboxtest.Run(t, open, unbounded...) }

func run(t *testing.T, backend sandbox.Backend, spec sandbox.Spec) sandbox.Result {
	t.Helper()
	if spec.Workspace == "" {
		spec.Workspace = t.TempDir()
	}
	result, err := backend.Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestLimitsOfPrograms(t *testing.T) {
	t.Parallel()
	backend := open(t)
	defer backend.Close()
	result := run(t, backend, sandbox.Spec{Shell: "ulimit -c; ulimit -Hc; ulimit -n"})
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	want := "0\n0\n4096\n"
	if files.Max < 4096 {
		t.Skip("this test itself may open fewer files")
	}
	if got := string(result.Stdout.Data); got != want {
		t.Errorf("core and file limits are %q, want %q", got, want)
	}
}

// A program may attack its supervisor. It gets no further than to its own end.
func TestProgramAttacksItsSupervisor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program string
		timeout time.Duration
		status  sandbox.Status
	}{
		"kill":      {"kill -KILL $PPID; sleep 1000", 0, sandbox.Signaled},
		"terminate": {"kill -TERM $PPID; kill -HUP $PPID; kill -INT $PPID; exit 3", 0, sandbox.Exited},
		"stop":      {"kill -STOP $PPID; sleep 1000", time.Second, sandbox.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			backend := open(t)
			defer backend.Close()
			result := run(t, backend, sandbox.Spec{Shell: c.program, Limits: sandbox.Limits{Timeout: c.timeout}})
			if result.Status != c.status {
				t.Errorf("ended as %q, signal %q", result.Status, result.Signal)
			}
		})
	}
}

func TestPathIsFixed(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	tool := filepath.Join(bin, "only-here")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\necho \"$PATH\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	backend := openWith(t, host.Options{Path: "relative::" + bin + ":/bin"})
	defer backend.Close()
	result := run(t, backend, sandbox.Spec{Argv: []string{"only-here"}})
	if got := string(result.Stdout.Data); got != bin+":/bin\n" {
		t.Errorf("PATH is %q", got)
	}
	for _, name := range []string{"./only-here", "../only-here", "sub/only-here", "relative"} {
		_, err := backend.Run(t.Context(), sandbox.Spec{Argv: []string{name}, Workspace: t.TempDir()})
		var setup *sandbox.SetupError
		if !errors.As(err, &setup) || setup.Rule != "program-missing" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestArgumentsTooLong(t *testing.T) {
	t.Parallel()
	backend := open(t)
	defer backend.Close()
	_, err := backend.Run(t.Context(), sandbox.Spec{
		Argv: []string{"true", strings.Repeat("x", 1<<20)}, Workspace: t.TempDir(),
	})
	var setup *sandbox.SetupError
	if !errors.As(err, &setup) || setup.Rule != "arguments-too-long" {
		t.Errorf("got %v", err)
	}
}

func TestExecutableForAnotherSystem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("MZ"), 0o755); err != nil {
		t.Fatal(err)
	}
	backend := open(t)
	defer backend.Close()
	_, err := backend.Run(t.Context(), sandbox.Spec{Script: "tool", SkillDir: dir, Workspace: t.TempDir()})
	var setup *sandbox.SetupError
	if !errors.As(err, &setup) || setup.Rule != "start-failed" || strings.Contains(setup.Message+setup.Hint, dir) {
		t.Errorf("got %v", err)
	}
}

// When the server is killed, everything that it runs dies. The server is this
// test in another process.
func TestServerIsKilled(t *testing.T) {
	t.Parallel()
	const variable = "HOST_TEST_WORKSPACE"
	if workspace := os.Getenv(variable); workspace != "" {
		backend := open(t)
		defer backend.Close()
		run(t, backend, sandbox.Spec{
			Workspace: workspace,
			Shell:     `setsid env -i sh -c 'exec 9> fifo; echo alive >&9; sleep 1000' & sleep 1000`,
		})
		return
	}
	workspace := t.TempDir()
	fifo := filepath.Join(workspace, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	server.Env = append(os.Environ(), variable+"="+workspace)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	watch, err := os.OpenFile(fifo, os.O_RDONLY, 0) // waits for the survivor
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	if err := errors.Join(server.Process.Kill(), watch.SetReadDeadline(time.Now().Add(30*time.Second))); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // killed
	buf := make([]byte, 64)
	for {
		n, err := watch.Read(buf)
		if n == 0 && err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal("a process outlives the server")
			}
			return // the end of file: nobody holds the other end
		}
	}
}
