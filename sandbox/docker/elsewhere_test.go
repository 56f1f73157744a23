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
	return serveThrough(t, socket, func(_ string, near, far net.Conn) { join(near, far) })
}

// serveThrough is serveTCP with what connects a client to the engine. That gets
// the first line of the request, which the engine has already, and is to
// return when one of them has closed.
func serveThrough(t testing.TB, socket string, connect func(request string, near, far net.Conn)) (host string) {
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
			all.Go(func() { forward(t, conn, socket, connect) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		all.Wait()
	})
	return "tcp://" + listener.Addr().String()
}

// forward connects a client to the engine until one of them closes.
func forward(t testing.TB, near net.Conn, socket string, connect func(request string, near, far net.Conn)) {
	defer near.Close()
	far, err := net.Dial("unix", socket)
	if err != nil {
		t.Error(err)
		return
	}
	defer far.Close()
	request, err := readLine(near)
	if err != nil { // it is not needed any more
		return
	}
	if _, err := io.WriteString(far, request); err != nil {
		t.Error(err)
		return
	}
	connect(request, near, far)
}

// readLine reads a line and nothing beyond it.
func readLine(r io.Reader) (line string, err error) {
	for one := make([]byte, 1); !strings.HasSuffix(line, "\n"); line += string(one) {
		if _, err := io.ReadFull(r, one); err != nil {
			return "", err
		}
	}
	return line, nil
}

// join connects a client to the engine until one of them closes.
func join(near, far net.Conn) {
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
