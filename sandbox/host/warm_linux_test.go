package host_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testprocess"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/host"
)

// openWarm opens a backend that has run a program, and so has a warm supervisor.
func openWarm(t *testing.T, workspace string) *host.Backend {
	t.Helper()
	backend := open(t).(*host.Backend)
	t.Cleanup(func() { backend.Close() })
	run(t, backend, sandbox.Spec{Shell: "true", Workspace: workspace})
	if backend.WarmPID() == 0 {
		t.Fatal("there is no warm supervisor")
	}
	return backend
}

func supervisorOf(t *testing.T, backend *host.Backend) string {
	t.Helper()
	return string(run(t, backend, sandbox.Spec{Shell: "echo $PPID; sleep 1000 &"}).Stdout.Data)
}

func TestSparesAreUsedOnce(t *testing.T) {
	t.Parallel()
	backend := openWarm(t, t.TempDir())
	for range 3 {
		want := strconv.Itoa(backend.WarmPID()) + "\n"
		if got := supervisorOf(t, backend); got != want {
			t.Errorf("the program ran below %q, want %q", got, want)
		}
	}
}

// Anything may kill a supervisor that waits. What was meant for it runs, once.
func TestLostSparesAreReplaced(t *testing.T) {
	t.Parallel()
	backend := openWarm(t, t.TempDir())
	if err := unix.Kill(backend.WarmPID(), unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	got := run(t, backend, sandbox.Spec{Shell: "tee -a log; cat log", Stdin: []byte("ran\n")})
	if string(got.Stdout.Data) != "ran\nran\n" {
		t.Errorf("%q", got.Stdout.Data)
	}
}

func TestSparesEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*host.Backend){
		"close": func(b *host.Backend) { b.Close() },
		"time":  (*host.Backend).Expire,
	} {
		backend := openWarm(t, t.TempDir())
		warm := backend.WarmPID()
		end(backend)
		if testprocess.Alive(warm) {
			t.Errorf("%s: the supervisor is there still", name)
		}
	}
}

func TestSparesEndWithTheServer(t *testing.T) {
	t.Parallel()
	const variable = "HOST_TEST_WARM"
	if workspace := os.Getenv(variable); workspace != "" {
		fmt.Println(openWarm(t, workspace).WarmPID())
		select {}
	}
	server := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	server.Env = append(os.Environ(), variable+"="+t.TempDir())
	output, err := server.StdoutPipe()
	if err := errors.Join(err, server.Start()); err != nil {
		t.Fatal(err)
	}
	var warm int
	_, err = fmt.Fscan(output, &warm)
	if err := errors.Join(err, server.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait() // killed
	for deadline := time.Now().Add(30 * time.Second); testprocess.Alive(warm); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the supervisor outlives the server")
		}
	}
}
