//go:build amd64 || arm64

package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/internal/testprocess"
	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/local"
)

// What starts jail processes holds nothing of the server's, nor of the runs that it
// has started.
func TestLauncherHoldsNothing(t *testing.T) {
	t.Setenv("SECRET", "of the server")
	backend := openTier(t, local.Full)
	backend.DropWarm()
	proc := fmt.Sprintf("/proc/%d/", backend.LauncherPID())
	fds, err := filepath.Glob(proc + "fd/*")
	if err != nil || len(fds) == 0 {
		t.Fatalf("its descriptors cannot be listed: %v", err)
	}
	sockets := 0
	for _, fd := range fds {
		file, err := os.Readlink(fd)
		switch {
		case err != nil:
			t.Error(err)
		case strings.HasPrefix(file, "socket:"):
			sockets++
		case strings.HasPrefix(file, "anon_inode:[event"), strings.HasPrefix(file, "/sys/fs/cgroup/"):
			// of Go's poller, and of what tells Go how many processors it may use
		case file != os.DevNull:
			t.Errorf("it has open %s", file)
		}
	}
	if sockets != 1 {
		t.Errorf("it has %d sockets", sockets)
	}
	environ, err := os.ReadFile(proc + "environ")
	if dir, _ := os.Readlink(proc + "cwd"); err != nil || dir != "/" || strings.Contains(string(environ), "SECRET") {
		t.Errorf("it is in %s with the environment %q, %v", dir, environ, err)
	}
	asNobodyToo(t)
}

// What is the launcher's way to sleep is not that of programs.
func TestTimerSlack(t *testing.T) {
	t.Parallel()
	backend := opener(local.Full)(t)
	t.Cleanup(func() { backend.Close() })
	if got := say(t, backend, sandbox.Spec{Shell: "cat /proc/self/timerslack_ns"}); got != "50000\n" {
		t.Errorf("sleeps of programs take up to %s nanoseconds longer", got)
	}
}

// Anything may kill what starts jail processes. In the tier full that is the end of
// what it has started, in the other it is not; it is never that of the backend.
func TestLauncherIsReplaced(t *testing.T) {
	t.Parallel()
	for tier, want := range map[local.Tier]string{local.Full: "SIGKILL", local.Restricted: ""} {
		backend := openTier(t, tier)
		workspace := t.TempDir()
		fifo := filepath.Join(workspace, "fifo")
		if err := unix.Mkfifo(fifo, 0o666); err != nil {
			t.Fatal(err)
		}
		ended := make(chan sandbox.Result)
		go func() {
			result, err := backend.Run(t.Context(), sandbox.Spec{Shell: `echo > fifo; read line < fifo`, Workspace: workspace})
			if err != nil {
				t.Error(err)
			}
			ended <- result
		}()
		if _, err := os.ReadFile(fifo); err != nil { // it runs
			t.Fatal(err)
		}
		killed := backend.LauncherPID()
		if err := unix.Kill(killed, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if tier == local.Restricted {
			testfiles.GoOn(t, fifo)
		}
		if result := <-ended; result.Signal != want {
			t.Errorf("%s: it ended by %q, status %s, want %q", tier, result.Signal, result.Status, want)
		}
		for range 2 {
			if got := say(t, backend, sandbox.Spec{Shell: "echo still"}); got != "still\n" {
				t.Errorf("%s: then a program says %q", tier, got)
			}
		}
		again := backend.LauncherPID()
		if again == killed || again == 0 {
			t.Errorf("%s: %d was killed, and now it is %d", tier, killed, again)
		}
		if err := backend.Close(); err != nil {
			t.Error(err)
		}
		if testprocess.Alive(again) {
			t.Errorf("%s: it is there after Close", tier)
		}
	}
	asNobodyToo(t)
}

// One that does not answer is given up.
func TestStoppedLauncherIsReplaced(t *testing.T) {
	testenv.Slow(t, "one that does not answer is waited for")
	t.Parallel()
	backend := openTier(t, local.Full)
	backend.DropWarm()
	if err := unix.Kill(backend.LauncherPID(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if got := say(t, backend, sandbox.Spec{Shell: "echo still"}); got != "still\n" {
		t.Errorf("a program says %q", got)
	}
}
