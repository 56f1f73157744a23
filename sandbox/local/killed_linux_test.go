//go:build amd64 || arm64

package local_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// When the server is killed, everything that it runs dies. The server is this
// test in another process.
func TestServerIsKilled(t *testing.T) {
	const tierVariable, workspaceVariable = "LOCAL_TEST_TIER", "LOCAL_TEST_WORKSPACE"
	if tier := os.Getenv(tierVariable); tier != "" {
		backend := opener(local.Tier(tier))(t)
		defer backend.Close()
		_, err := backend.Run(t.Context(), sandbox.Spec{
			Workspace: os.Getenv(workspaceVariable),
			Shell:     `setsid env -i sh -c 'exec 9> fifo; echo alive >&9; sleep 1000' & sleep 1000`,
		})
		t.Fatalf("the run has ended: %v", err)
	}
	for _, tier := range []local.Tier{local.Full, local.Restricted} {
		t.Run(string(tier), func(t *testing.T) {
			workspace := t.TempDir()
			fifo := filepath.Join(workspace, "fifo")
			if err := unix.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			server := exec.Command("/proc/self/exe", "-test.run=^TestServerIsKilled$")
			server.Env = append(os.Environ(), tierVariable+"="+string(tier), workspaceVariable+"="+workspace)
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			watch, err := os.OpenFile(fifo, os.O_RDONLY, 0) // waits for the survivor
			if err != nil {
				t.Fatal(err)
			}
			defer watch.Close()
			if err := errors.Join(server.Process.Kill(), watch.SetReadDeadline(time.Now().Add(5*time.Second))); err != nil {
				t.Fatal(err)
			}
			_ = server.Wait() // killed
			for buf := make([]byte, 64); err == nil; {
				_, err = watch.Read(buf) // ends with the last process that holds the other end
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("a process outlives the server")
			}
		})
	}
	asNobodyToo(t)
}

// A program may attack its supervisor, which is its parent. It gets nowhere.
func TestProgramAttacksItsSupervisor(t *testing.T) {
	t.Parallel()
	backend := opener(local.Full)(t)
	defer backend.Close()
	for name, program := range map[string]string{
		"signals": `for s in HUP INT QUIT TERM SEGV ABRT ILL BUS FPE USR1 STOP KILL; do kill -$s $PPID; done; sleep 0.1; exit 3`,
		"memory":  `cat /proc/$PPID/mem /proc/$PPID/environ /proc/$PPID/maps; ls /proc/$PPID/fd/; exit 3`,
	} {
		result, err := backend.Run(t.Context(), sandbox.Spec{Shell: program, Workspace: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if result.Status != sandbox.Exited || result.ExitCode != 3 || len(result.Stdout.Data) > 0 {
			t.Errorf("%s: ended as %q, exit code %d, signal %q, stdout %q", name, result.Status, result.ExitCode, result.Signal, result.Stdout.Data)
		}
	}
}
