// Package enginetest reaches this machine's Docker engine as if it were on
// another one: over TCP, over TLS and by ssh, always on loopback. It is for
// tests, which are skipped where there is nothing to reach, unless
// SKILLS_MCP_REQUIRE names "docker".
package enginetest

import (
	"context"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/skills-mcp/skills-mcp/internal/testenv"
)

// Socket returns where this machine's engine listens.
func Socket(t testing.TB) string {
	t.Helper()
	testenv.Slow(t, "an engine")
	path, local := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if !local {
		path = "/var/run/docker.sock"
	}
	conn, err := new(net.Dialer).DialContext(context.Background(), "unix", path)
	if err != nil {
		testenv.Need(t, "docker", err)
	}
	conn.Close()
	return path
}
