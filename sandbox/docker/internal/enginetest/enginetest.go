// Package enginetest reaches this machine's Docker engine as if it were on
// another one: over TCP, over TLS and by ssh, always on loopback. It is for
// tests, which are skipped where there is nothing to reach, unless
// SKILLS_MCP_REQUIRE names "docker".
package enginetest

import (
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
)

// Required tells whether SKILLS_MCP_REQUIRE names something.
func Required(name string) bool {
	names := strings.FieldsFunc(os.Getenv("SKILLS_MCP_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' })
	return slices.Contains(names, name)
}

// missing skips a test for what is not there, or fails it where it must be.
func missing(t testing.TB, what string, err error) {
	t.Helper()
	if Required("docker") {
		t.Fatalf("%s: %v (make test-setup sees to it)", what, err)
	}
	t.Skipf("needs %s: %v (make test-setup sees to it)", what, err)
}

// Socket gives where this machine's engine listens.
func Socket(t testing.TB) string {
	t.Helper()
	path, local := strings.CutPrefix(os.Getenv("DOCKER_HOST"), "unix://")
	if !local {
		path = "/var/run/docker.sock"
	}
	conn, err := new(net.Dialer).DialContext(context.Background(), "unix", path)
	if err != nil {
		missing(t, "a Docker engine at a socket", err)
	}
	conn.Close()
	return path
}
