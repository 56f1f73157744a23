package docker_test

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/skills-mcp/skills-mcp/sandbox"
	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/protocol"
)

// bounded is how long a run may take that an engine holds up.
const bounded = 2 * time.Minute

// openStalled opens a backend on an engine whose containers, but for that of the
// probe, are connected to clients in another way.
func openStalled(t *testing.T, connect func(near, far net.Conn)) *docker.Backend {
	host := enginetest.ServeAttached(t, func(before int, near, far net.Conn) bool {
		if before == 0 {
			return true
		}
		connect(near, far)
		return false
	})
	return untilEnd(t, openWith(t, docker.Options{Host: host}))
}

// workspaceOf makes a workspace with a file, which no buffer on the way takes.
func workspaceOf(t *testing.T, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "big"), make([]byte, size), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func runBounded(t *testing.T, backend *docker.Backend, spec sandbox.Spec) (result sandbox.Result, err error) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		result, err = backend.Run(t.Context(), spec)
	}()
	select {
	case <-ended:
		return result, err
	case <-time.After(bounded):
		t.Fatal("the run does not end")
		panic("unreachable")
	}
}

// A container that acknowledges what it never takes is given up.
func TestEngineThatTakesNothingButSaysSo(t *testing.T) {
	t.Parallel()
	backend := openStalled(t, func(near, far net.Conn) {
		for header := ""; header != "\r\n"; { // of the request, and then of the answer
			line, err := enginetest.ReadLine(near)
			if err != nil {
				return
			}
			io.WriteString(far, line)
			header = line
		}
		for header := ""; header != "\r\n"; {
			line, err := enginetest.ReadLine(far)
			if err != nil {
				return
			}
			io.WriteString(near, line)
			header = line
		}
		near.Write([]byte{1, 0, 0, 0, 0, 0, 0, 1, protocol.Ack}) // one byte of standard output
		io.Copy(near, far)                                       // until the container is removed
	})
	result, err := runBounded(t, backend, sandbox.Spec{
		Shell: "true", Workspace: workspaceOf(t, 64<<20), Limits: sandbox.Limits{Timeout: time.Second},
	})
	if err != nil || result.Status != sandbox.TimedOut || !result.ChangesLost {
		t.Errorf("%+v, %v", result, err)
	}
}

// A container that neither takes nor says anything is not waited for.
func TestEngineThatTakesNothing(t *testing.T) {
	t.Parallel()
	backend := openStalled(t, func(near, far net.Conn) {
		go io.CopyN(far, near, 1<<20)
		io.Copy(near, far)
	})
	backend.SetAckTimeout(time.Second)
	_, err := runBounded(t, backend, sandbox.Spec{Shell: "true", Workspace: workspaceOf(t, 64<<20)})
	if !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("Run gives %v", err)
	}
}

// A server that is killed while files are on their way leaves no container
// behind either.
func TestServersAreKilledWhileFilesAreOnTheirWay(t *testing.T) {
	shared(t) // skips where there is no engine
	for name, connect := range map[string]func(reached chan<- struct{}) func(near, far net.Conn){
		"there": func(reached chan<- struct{}) func(near, far net.Conn) {
			return func(near, far net.Conn) {
				go io.Copy(near, far)
				io.CopyN(far, near, 8<<20)
				reached <- struct{}{}
				io.Copy(io.Discard, near) // until the server is killed
			}
		},
		"back": func(reached chan<- struct{}) func(near, far net.Conn) {
			return func(near, far net.Conn) {
				go func() {
					io.CopyN(near, far, 8<<20)
					reached <- struct{}{}
				}()
				io.Copy(far, near)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			reached := make(chan struct{}, 8)
			hold := connect(reached)
			host := enginetest.ServeAttached(t, func(before int, near, far net.Conn) bool {
				if before != 1 { // that of the probe, or a warm one
					return true
				}
				hold(near, far)
				return false
			})
			server := exec.Command(os.Args[0])
			server.Env = append(os.Environ(), briefServerVariable+"="+workspaceOf(t, 64<<20), "DOCKER_HOST="+host)
			server.Stderr = os.Stderr
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			<-reached
			pids := []int{server.Process.Pid}
			if len(ownedBy(t, pids, "running")) == 0 {
				t.Error("the server has no container")
			}
			server.Process.Kill()
			server.Wait()
			for deadline := time.Now().Add(5 * time.Second); len(ownedBy(t, pids, "running")) > 0; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("after 5 s there still run %v", ownedBy(t, pids, "running"))
				}
			}
		})
	}
}
