package docker_test

import (
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/client"

	"github.com/skills-mcp/skills-mcp/sandbox/docker"
)

// serveTCP makes the engine of a Unix socket listen on a loopback address, as
// one on another machine does, until the end of the test.
func serveTCP(t testing.TB, socket string) (host string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			all.Go(func() { forward(t, conn, socket) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	return "tcp://" + listener.Addr().String()
}

// forward connects a client to the engine until one of them closes.
func forward(t testing.TB, near net.Conn, socket string) {
	defer near.Close()
	far, err := net.Dial("unix", socket)
	if err != nil {
		t.Error(err)
		return
	}
	defer far.Close()
	var answers sync.WaitGroup
	answers.Go(func() {
		io.Copy(near, far)
		near.(*net.TCPConn).CloseWrite()
	})
	io.Copy(far, near)
	far.(*net.UnixConn).CloseWrite()
	answers.Wait()
}

func engineSocket() string {
	host := os.Getenv("DOCKER_HOST")
	if host == "" {
		host = client.DefaultDockerHost
	}
	return strings.TrimPrefix(host, "unix://")
}

// openCopying opens a backend, until the end of the test, on an engine that
// shares no directories.
func openCopying(t testing.TB) *docker.Backend {
	t.Helper()
	return untilEnd(t, openWith(t, docker.Options{Host: serveTCP(t, engineSocket())}))
}

// Who does not ask for it has no files sent to another machine.
func TestEngineElsewhereIsAskedFor(t *testing.T) {
	t.Parallel()
	openUntilEnd(t) // skips where there is no engine
	host := serveTCP(t, engineSocket())
	expectUnavailable(t, docker.Options{Host: host, Here: true}, "--sandbox=docker")
	backend := openWith(t, docker.Options{Host: "unix://" + engineSocket(), Here: true})
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
}
