package docker_test

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testfiles"
	"github.com/skills-mcp/skills-mcp/sandbox"
)

// echo is a [sandbox.Egress] that sends back what comes, with something before it.
type echo string

func (e echo) Serve(listener net.Listener) {
	var serving sync.WaitGroup
	defer serving.Wait()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		serving.Go(func() {
			defer conn.Close()
			io.WriteString(conn, string(e))
			io.Copy(conn, conn)
		})
	}
}

// ask is a program that says something to a [sandbox.Egress] and writes what comes
// back, or what keeps it from that.
const ask = `python3 - <<'END'
import socket, sys
try:
    with socket.create_connection(("127.0.0.1", 3128), 10) as s:
        s.sendall(b" asked")
        s.shutdown(socket.SHUT_WR)
        while (part := s.recv(100)): sys.stdout.write(part.decode())
except OSError as e:
    sys.stdout.write(type(e).__name__)
END
`

// Runs with and without a grant, one after the other and at once, in containers that
// were started ahead or not, reach their own egress and no other.
func TestEachRunHasItsOwnEgress(t *testing.T) {
	t.Parallel()
	backend := openUntilEnd(t)
	if !backend.Info().Egress || !strings.Contains(backend.Info().Notice, "user grants") {
		t.Fatalf("the backend is %+v", backend.Info())
	}
	workspace := t.TempDir()
	const refused = "ConnectionRefusedError"
	for _, grant := range []string{"", "one", "two", "", "three"} {
		spec := sandbox.Spec{Shell: ask, Workspace: workspace}
		want := refused
		if grant != "" {
			spec.Egress, want = echo(grant), grant+" asked"
		}
		if got := string(run(t, backend, spec).Stdout.Data); got != want {
			t.Errorf("with the grant %q a program is told %q", grant, got)
		}
		backend.AwaitWarm()
	}
	var all sync.WaitGroup
	for _, grant := range []string{"a", "b", "c"} {
		all.Go(func() {
			result, err := backend.Run(t.Context(), sandbox.Spec{Shell: ask, Egress: echo(grant), Workspace: workspace})
			if got := string(result.Stdout.Data); got != grant+" asked" || err != nil {
				t.Errorf("with the grant %q a program is told %q, %v", grant, got, err)
			}
		})
	}
	all.Wait()
}

// The way by which the listener came is gone when a program starts, in the container
// and on this machine.
func TestPassageIsClosed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	backend := openUntilEnd(t)
	see := func() {
		t.Helper()
		if left, err := filepath.Glob(filepath.Join(dir, "*passage*")); err != nil || len(left) > 0 {
			t.Errorf("there are %q, %v", left, err)
		}
	}
	spec := sandbox.Spec{
		Shell: `find / -type s 2> /dev/null; cat /proc/net/unix | tail -n +2
			ls -A /usr/local/lib/skills-mcp/passage; touch /usr/local/lib/skills-mcp/passage/x 2> /dev/null && echo written
			ls -l /proc/self/fd /proc/1/fd 2> /dev/null | grep -i socket; echo looked; read line`,
		Egress: echo("x"), Workspace: t.TempDir(),
		Progress: func(string) {
			backend.AwaitWarm() // whose passage is open until it has started
			see()
		},
	}
	if result := run(t, backend, spec); string(result.Stdout.Data) != "looked\n" {
		t.Errorf("a program finds %s", result.Stdout.Data)
	}
	backend.AwaitWarm()
	see()
}

// What cannot be shown where it is keeps a run from starting, in words.
func TestShownInTheWay(t *testing.T) {
	t.Parallel()
	backend := shared(t)
	for _, name := range []string{"/usr/bin/env", "/etc/hostname"} {
		if _, err := os.Lstat(name); err != nil {
			continue
		}
		_, err := backend.Run(t.Context(), sandbox.Spec{Shell: "true", Show: []string{name}, Workspace: t.TempDir()})
		expectRule(t, err, "show-refused")
	}
	_, err := sharedCopying(t).Run(t.Context(), sandbox.Spec{Shell: "true", Show: []string{testfiles.Dir(t, nil)}, Workspace: t.TempDir()})
	expectRule(t, err, "show-refused")
}

func expectRule(t *testing.T, err error, rule string) {
	t.Helper()
	if setup := new(sandbox.SetupError); !errors.As(err, &setup) || setup.Rule != rule {
		t.Errorf("Run gives %v, want %s", err, rule)
	}
}

// Where the engine is elsewhere no network can be granted; a run stays closed.
func TestNoEgressElsewhere(t *testing.T) {
	t.Parallel()
	backend := sharedCopying(t)
	if info := backend.Info(); info.Egress || !strings.Contains(info.Notice, "no hosts can be granted") {
		t.Errorf("the backend is %+v", info)
	}
	if got := string(run(t, backend, sandbox.Spec{Shell: ask, Egress: echo("x")}).Stdout.Data); got != "ConnectionRefusedError" {
		t.Errorf("a program is told %q", got)
	}
}
