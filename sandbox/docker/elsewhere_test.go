package docker_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/remote"
)

// openCopying opens a backend, until the end of the test, on an engine that
// shares no directories.
func openCopying(t testing.TB) *docker.Backend {
	t.Helper()
	return untilEnd(t, openWith(t, docker.Options{Host: enginetest.ServeTCP(t, nil)}))
}

// Who does not ask for it has no files sent to another machine.
func TestEngineElsewhereIsAskedFor(t *testing.T) {
	t.Parallel()
	shared(t) // skips where there is no engine
	host := enginetest.ServeTCP(t, nil)
	expectUnavailable(t, docker.Options{Host: host, Remote: remote.Access{Here: true}}, "--sandbox=docker")
	expectUnavailable(t, docker.Options{Host: "tcp://127.0.0.1:1", Remote: remote.Access{Here: true}}, "--sandbox=docker") // it is not even tried
	expectUnavailable(t, docker.Options{Host: host}, "--sandbox=docker")
	for _, way := range []docker.Remote{nil, remote.Access{Here: true}} {
		backend, err := docker.New(t.Context(), docker.Options{Host: "unix://" + enginetest.Socket(t), Remote: way})
		if err == nil {
			err = backend.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
}
