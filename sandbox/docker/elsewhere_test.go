package docker_test

import (
	"testing"

	"github.com/skills-mcp/skills-mcp/sandbox/docker"
	"github.com/skills-mcp/skills-mcp/sandbox/docker/internal/enginetest"
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
	openUntilEnd(t) // skips where there is no engine
	host := enginetest.ServeTCP(t, nil)
	expectUnavailable(t, docker.Options{Host: host, Here: true}, "--sandbox=docker")
	expectUnavailable(t, docker.Options{Host: "tcp://127.0.0.1:1", Here: true}, "--sandbox=docker") // it is not even tried
	backend := openWith(t, docker.Options{Host: "unix://" + enginetest.Socket(t), Here: true})
	if err := backend.Close(); err != nil {
		t.Error(err)
	}
}
